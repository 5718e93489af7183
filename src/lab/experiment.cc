#include "lab/experiment.h"

#include <cstdlib>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/toml_file.h"

namespace lanescope::lab {
namespace {

namespace fs = std::filesystem;

class Reader {
public:
    Reader(std::string_view text, const std::string& file) : file_(text, file) {}

    base::Result<Experiment> run() {
        const std::optional<toml::table> root = file_.parse();
        if (!root) return file_.errors();
        Experiment e;
        allow(*root, {"title", "question", "program", "gpus", "rows", "run", "column", "plot", "claim"});
        e.title = both(*root, "title");
        e.question = both(*root, "question");
        e.program = text(*root, "program");
        e.gpus = texts(*root, "gpus", true);
        e.rows = texts(*root, "rows", true);
        each(*root, "run", true, [&](const toml::table& table) { e.runs.push_back(read_run(table)); });
        each(*root, "column", true, [&](const toml::table& table) { e.columns.push_back(read_column(table)); });
        each(*root, "plot", false, [&](const toml::table& table) { e.plots.push_back(read_plot(table, e)); });
        each(*root, "claim", true, [&](const toml::table& table) { e.claims.push_back(read_claim(table)); });
        if (!file_.ok()) return file_.errors();
        return e;
    }

private:
    void fail(const toml::node& node, std::string message) { file_.fail(node.source(), std::move(message)); }

    void allow(const toml::table& table, std::initializer_list<std::string_view> known) {
        for (const auto& [key, value] : table)
            if (std::find(known.begin(), known.end(), key.str()) == known.end())
                file_.fail(key.source(), fmt::format("unknown key '{}'; known here: {}", key.str(), fmt::join(known, ", ")));
    }

    const toml::node* find(const toml::table& table, std::string_view key, bool required) {
        const toml::node* node = table.get(key);
        if (node == nullptr && required) fail(table, fmt::format("missing key '{}'", key));
        return node;
    }
    std::string text(const toml::table& table, std::string_view key, bool required = true) {
        const toml::node* node = find(table, key, required);
        if (node == nullptr) return {};
        if (!node->is_string() || node->as_string()->get().empty()) return fail(*node, fmt::format("'{}' must be a text", key)), "";
        return node->as_string()->get();
    }
    std::string one_of(const toml::table& table, std::string_view key, std::initializer_list<std::string_view> known) {
        std::string value = text(table, key, false);
        if (!value.empty() && std::find(known.begin(), known.end(), value) == known.end())
            fail(*table.get(key), fmt::format("'{}' must be one of {}", key, fmt::join(known, ", ")));
        return value;
    }
    bool flag(const toml::table& table, std::string_view key, bool otherwise) {
        const toml::node* node = table.get(key);
        if (node == nullptr) return otherwise;
        if (!node->is_boolean()) fail(*node, fmt::format("'{}' must be true or false", key));
        return node->value_or(otherwise);
    }
    std::vector<std::string> texts(const toml::table& table, std::string_view key, bool required) {
        std::vector<std::string> out;
        const toml::node* node = find(table, key, required);
        if (node == nullptr) return out;
        if (!node->is_array()) return fail(*node, fmt::format("'{}' must be an array of texts", key)), out;
        for (const toml::node& element : *node->as_array())
            if (element.is_string()) out.push_back(element.as_string()->get());
            else fail(element, fmt::format("'{}' must be an array of texts", key));
        return out;
    }
    Text both(const toml::table& table, std::string_view key) {
        const toml::node* node = find(table, key, true);
        if (node == nullptr) return {};
        const toml::table* pair = node->as_table();
        if (pair == nullptr) return fail(*node, fmt::format("'{}' must be {{ en = \"…\", zh = \"…\" }}", key)), Text();
        allow(*pair, {"en", "zh"});
        return {text(*pair, "en"), text(*pair, "zh")};
    }
    template <class F>
    void each(const toml::table& root, std::string_view key, bool required, F read) {
        const toml::node* node = find(root, key, required);
        if (node == nullptr) return;
        if (!node->is_array_of_tables()) return fail(*node, fmt::format("write each {0} as a table of its own: [[{0}]]", key));
        for (const toml::node& element : *node->as_array()) read(*element.as_table());
    }
    /// Parses a text value; an error inside it is placed on its character.
    template <class T>
    T parsed(const toml::table& table, std::string_view key, base::Result<T> (*parse)(std::string_view)) {
        const std::string value = text(table, key);
        if (value.empty()) return {};
        base::Result<T> result = parse(value);
        if (result) return std::move(*result);
        toml::source_region where = table.get(key)->source();
        where.begin.column += result.errors()[0].place.column;  // the quotation mark is column 0 of the text
        file_.fail(where, result.errors()[0].message);
        return {};
    }

    Run read_run(const toml::table& table) {
        allow(table, {"name", "l1", "caches", "quick", "full", "full_emulated"});
        Run run;
        run.name = text(table, "name", false);
        run.l1 = one_of(table, "l1", {"on", "off"});
        run.warm = one_of(table, "caches", {"cold", "warm"}) == "warm";
        run.quick = texts(table, "quick", true);
        run.full = table.contains("full") ? texts(table, "full", true) : run.quick;
        run.full_emulated = table.contains("full_emulated") ? texts(table, "full_emulated", true) : run.full;
        return run;
    }
    Column read_column(const toml::table& table) {
        allow(table, {"name", "label", "value", "unit", "shown"});
        Column column;
        column.name = text(table, "name");
        column.label = both(table, "label");
        column.unit = text(table, "unit", false);
        column.shown = flag(table, "shown", true);
        column.value = parsed(table, "value", Expression::parse);
        if (column.value.is_comparison()) fail(*table.get("value"), "a column is a number, not a comparison");
        return column;
    }
    Plot read_plot(const toml::table& table, const Experiment& experiment) {
        allow(table, {"title", "kind", "x", "y", "series", "where", "steps", "log_x"});
        Plot plot;
        plot.title = both(table, "title");
        const std::string kind = find(table, "kind", true) ? one_of(table, "kind", {"line", "bars", "journey", "warps"}) : "";
        plot.kind = kind == "bars" ? Plot::Kind::kBars : kind == "journey" ? Plot::Kind::kJourney : kind == "warps" ? Plot::Kind::kWarps : Plot::Kind::kLine;
        const bool xy = plot.kind == Plot::Kind::kLine || plot.kind == Plot::Kind::kBars;
        plot.x = text(table, "x", xy);
        plot.y = text(table, "y", xy);
        plot.series = text(table, "series", false);
        plot.steps = texts(table, "steps", plot.kind == Plot::Kind::kJourney);
        plot.log_x = flag(table, "log_x", false);
        if (table.contains("where")) plot.where = parsed(table, "where", Expression::parse_selection);
        const auto is_column = [&](const std::string& name) {
            return std::any_of(experiment.columns.begin(), experiment.columns.end(), [&](const Column& column) { return column.name == name; });
        };
        if (!plot.y.empty() && !is_column(plot.y)) fail(*table.get("y"), fmt::format("'{}' is not a column", plot.y));
        for (const std::string& step : plot.steps)
            if (!is_column(step)) fail(*table.get("steps"), fmt::format("'{}' is not a column", step));
        return plot;
    }
    Claim read_claim(const toml::table& table) {
        allow(table, {"says", "gpus", "backend", "mode", "that"});
        Claim claim;
        claim.says = both(table, "says");
        claim.gpus = texts(table, "gpus", false);
        claim.backend = one_of(table, "backend", {"emulated", "hardware"});
        claim.mode = one_of(table, "mode", {"quick", "full"});
        claim.text = text(table, "that");
        claim.that = parsed(table, "that", Expression::parse);
        if (!claim.text.empty() && !claim.that.is_comparison()) fail(*table.get("that"), "a claim must compare something");
        return claim;
    }

    base::TomlFile file_;
};

bool is_there(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

}  // namespace

base::Result<Experiment> parse(std::string_view toml, const std::string& file) { return Reader(toml, file).run(); }

base::Result<Experiment> load(const fs::path& folder) {
    const fs::path file = folder / "experiment.toml";
    base::Result<std::string> toml = base::read_file(file, 1 << 20);
    if (!toml) return toml.errors();
    base::Result<Experiment> experiment = parse(*toml, file.string());
    if (!experiment) return experiment;
    experiment->folder = folder;
    experiment->name = folder.filename().string();
    experiment->program = folder / experiment->program;
    if (!is_there(experiment->program)) return base::error(fmt::format("the program '{}' is missing", experiment->program.string()), {file.string()});
    base::Result<std::string> explanation = base::read_file(folder / "README.md", 1 << 20);
    if (!explanation) return explanation.errors();
    experiment->explanation = std::move(*explanation);
    return experiment;
}

std::vector<std::string> names_in(const Experiment& experiment) {
    std::set<std::string> names;
    const auto add = [&](const std::vector<std::string>& more) { names.insert(more.begin(), more.end()); };
    for (const Column& column : experiment.columns) add(column.value.names());
    for (const Claim& claim : experiment.claims) add(claim.that.names());
    for (const Plot& plot : experiment.plots) {
        add({plot.x, plot.y, plot.series});
        add(plot.steps);
    }
    return {names.begin(), names.end()};
}

fs::path find_folder(const fs::path& executable) {
    if (const char* given = std::getenv("LANESCOPE_LAB")) return given;
    const fs::path folder = executable.parent_path();
    if (const fs::path installed = folder.parent_path() / "share/lanescope/lab"; is_there(installed / "lab.h")) return installed;
    for (fs::path up = folder; !up.empty(); up = up.parent_path()) {
        if (is_there(up / "lab/lab.h")) return up / "lab";
        if (up == up.parent_path()) break;
    }
    return {};
}

std::vector<std::string> names(const fs::path& folder) {
    std::vector<std::string> found;
    std::error_code problem;
    for (auto entry = fs::directory_iterator(folder, problem); !problem && entry != end(entry); entry.increment(problem))
        if (is_there(entry->path() / "experiment.toml")) found.push_back(entry->path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
}

std::string complete(const std::vector<std::string>& names, const std::string& word) {
    std::string found;
    for (const std::string& name : names) {
        const size_t dash = name.find('-');
        const std::string number = name.substr(0, dash), rest = dash == std::string::npos ? "" : name.substr(dash + 1);
        const bool match = name == word || rest == word || number == word || (number.size() == 2 && number[0] == '0' && number.substr(1) == word);
        if (match && !found.empty()) return {};
        if (match) found = name;
    }
    return found;
}

}  // namespace lanescope::lab
