// Reads gpus/*.toml. Every value is an array [value, "source"]; [sources] says what each source is and how far it can be trusted.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/toml_file.h"
#include "gpu/keys.h"

namespace lanescope::gpu {
namespace {

struct Suffix {
    Unit unit;
    std::string_view text;
    double factor;
};
constexpr Suffix kSuffixes[] = {
    {Unit::kBytes, "B", 1},         {Unit::kBytes, "KiB", 1024},     {Unit::kBytes, "MiB", 1 << 20}, {Unit::kBytes, "GiB", 1 << 30},
    {Unit::kFrequency, "MHz", 1},   {Unit::kFrequency, "GHz", 1000}, {Unit::kBits, "bit", 1},        {Unit::kTime, "ns", 1},
    {Unit::kTime, "us", 1000},      {Unit::kRate, "MB/s", 1e6},      {Unit::kRate, "GB/s", 1e9},
};

template <size_t n>
std::optional<size_t> position(const std::string_view (&names)[n], std::string_view name) {
    for (size_t i = 0; i < n; ++i)
        if (names[i] == name) return i;
    return std::nullopt;
}

template <class Range>
std::string join(const Range& names) {
    return fmt::format("{}", fmt::join(names, ", "));
}

class Parser {
public:
    Parser(std::string_view text, const std::string& file) : file_(text, file) {
        description_.name = std::filesystem::path(file).stem().string();
    }

    base::Result<Description> run() {
        const std::optional<toml::table> parsed = file_.parse();
        if (!parsed) return file_.errors();
        const toml::table& root = *parsed;
        read_sources(root);
        for (const auto& [name, node] : root) check_section(name, node);
        for (const Key& key : keys()) read_key(root, key);
        read_model(root);
        read_transfers(root);
        for (const auto& [name, source] : sources_)
            if (!source.used) fail(source.place, fmt::format("source '{}' is never used", name));
        if (file_.ok()) check_together(root);
        if (!file_.ok()) return file_.errors();
        return std::move(description_);
    }

private:
    struct Source {
        std::string document;
        Confidence confidence = Confidence::kAssumed;
        toml::source_region place;
        bool used = false;
    };
    struct Value {
        const toml::node* node;
        Description::Origin origin;
    };

    void fail(const toml::source_region& where, std::string message) { file_.fail(where, std::move(message)); }

    void read_sources(const toml::table& root) {
        const toml::node* node = root.get("sources");
        if (node == nullptr || !node->is_table()) return fail(node ? node->source() : root.source(), "missing table [sources]");
        for (const auto& [name, entry] : *node->as_table()) {
            Source source{"", Confidence::kAssumed, name.source(), false};
            const toml::array* pair = entry.as_array();
            if (pair == nullptr || pair->size() != 2 || !(*pair)[0].is_string() || !(*pair)[1].is_string()) {
                fail(entry.source(), fmt::format("'{}' must be [\"document\", \"confidence\"]", name.str()));
            } else {
                source.document = pair->get(0)->as_string()->get();
                const auto confidence = position(kConfidenceNames, pair->get(1)->as_string()->get());
                if (confidence) source.confidence = static_cast<Confidence>(*confidence);
                else fail(pair->get(1)->source(), "unknown confidence; known: " + join(kConfidenceNames));
                if (source.document.empty()) fail(pair->get(0)->source(), "a source needs the name of a document");
            }
            sources_.emplace(name.str(), std::move(source));
        }
    }

    void check_section(const toml::key& name, const toml::node& node) {
        if (name == "sources" || name == "model" || name == "transfers") {
            if (!node.is_table()) fail(name.source(), fmt::format("'{}' must be a table", name.str()));
            return;
        }
        bool known = false;
        for (const Key& key : keys()) known |= key.section == name.str();
        if (!known) return fail(name.source(), fmt::format("unknown section '{}'", name.str()));
        const toml::table* table = node.as_table();
        if (table == nullptr) return fail(name.source(), fmt::format("'{}' must be a table", name.str()));
        for (const auto& [key_name, value] : *table) {
            const auto matches = [&, &found = key_name](const Key& key) { return key.section == name.str() && key.name == found.str(); };
            if (std::none_of(keys().begin(), keys().end(), matches))
                fail(key_name.source(), fmt::format("unknown key '{}' in [{}]", key_name.str(), name.str()));
        }
    }

    /// Splits [value, "source"].
    std::optional<Value> value_of(const toml::node& entry, std::string_view name) {
        const toml::array* pair = entry.as_array();
        if (pair == nullptr || pair->size() != 2) {
            fail(entry.source(), fmt::format("'{}' must be [value, \"source\"]", name));
            return std::nullopt;
        }
        const toml::node& source_name = (*pair)[1];
        const auto source = source_name.is_string() ? sources_.find(source_name.as_string()->get()) : sources_.end();
        if (source == sources_.end()) {
            fail(source_name.source(), source_name.is_string() ? fmt::format("'{}' is not in [sources]", source_name.as_string()->get())
                                                               : "the source must be a name from [sources]");
            return std::nullopt;
        }
        source->second.used = true;
        return Value{&(*pair)[0], {"", source->second.document, source->second.confidence}};
    }

    void read_key(const toml::table& root, const Key& key) {
        const toml::node* section = root.get(key.section);
        if (section == nullptr) {
            if (missing_.insert(key.section).second) fail(root.source(), fmt::format("missing section [{}]", key.section));
            return;
        }
        if (!section->is_table()) return;
        const toml::node* entry = section->as_table()->get(key.name);
        if (entry == nullptr) return fail(section->source(), fmt::format("missing key '{}' in [{}]", key.name, key.section));
        std::optional<Value> value = value_of(*entry, key.name);
        if (!value) return;
        const toml::node& node = *value->node;
        value->origin.text = text_of(node);
        const bool unknown = key.may_be_unknown && node.is_string() && node.as_string()->get() == "unknown";
        if (!unknown && !std::visit([&](auto member) { return assign(key, node, member); }, key.member)) return;
        description_.origins.emplace(key.name, std::move(value->origin));
    }

    static std::string text_of(const toml::node& node) {
        if (const auto* text = node.as_string()) return text->get();
        if (const auto* flag = node.as_boolean()) return flag->get() ? "yes" : "no";
        if (const auto* number = node.as_integer()) return std::to_string(number->get());
        if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
        std::string text;
        if (const auto* array = node.as_array())
            for (const toml::node& element : *array) text += (text.empty() ? "" : ", ") + text_of(element);
        return text;
    }

    template <class T>
    bool assign(const Key& key, const toml::node& node, T Description::* member) {
        if constexpr (std::is_same_v<T, std::string>) {
            if (!node.is_string() || node.as_string()->get().empty()) return wrong(key, node, "a text");
            description_.*member = node.as_string()->get();
        } else if constexpr (std::is_same_v<T, bool>) {
            if (!node.is_boolean()) return wrong(key, node, "true or false");
            description_.*member = node.as_boolean()->get();
        } else if constexpr (std::is_same_v<T, Coalescing>) {
            const auto rule = node.is_string() ? position(kCoalescingNames, node.as_string()->get()) : std::nullopt;
            if (!rule) return wrong(key, node, "one of " + join(kCoalescingNames));
            description_.*member = static_cast<Coalescing>(*rule);
        } else if constexpr (std::is_same_v<T, std::vector<uint64_t>>) {
            const toml::array* array = node.as_array();
            if (array == nullptr || array->empty()) return wrong(key, node, "an array of sizes");
            for (const toml::node& element : *array) {
                const std::optional<double> number = number_of(key, element);
                if (!number) return false;
                std::vector<uint64_t>& list = description_.*member;
                if (!list.empty() && *number <= double(list.back())) return fail(element.source(), "sizes must ascend"), false;
                list.push_back(uint64_t(*number));
            }
        } else {
            const std::optional<double> number = number_of(key, node);
            if (!number) return false;
            if (std::is_integral_v<T> && *number != std::floor(*number)) return wrong(key, node, "a whole number");
            description_.*member = T(*number);
        }
        return true;
    }

    bool wrong(const Key& key, const toml::node& node, std::string_view expected) {
        fail(node.source(), fmt::format("'{}' must be {}", key.name, expected));
        return false;
    }

    /// The number in the kept unit, within the key's limits.
    std::optional<double> number_of(const Key& key, const toml::node& node) {
        std::optional<double> number;
        if (key.unit == Unit::kNone) {
            if (node.is_number()) number = *node.value<double>();
            else wrong(key, node, "a number without a unit");
        } else if (key.unit == Unit::kCapability) {
            number = capability(node);
            if (!number) wrong(key, node, "a compute capability such as \"9.0\"");
        } else {
            number = with_unit(key, node);
        }
        if (number && !(*number >= key.min && *number <= key.max)) {
            fail(node.source(), fmt::format("'{}' is out of range: {} to {}{}", key.name, in_unit(key.unit, key.min), in_unit(key.unit, key.max),
                                            key.may_be_unknown ? ", or \"unknown\"" : ""));
            return std::nullopt;
        }
        return number;
    }

    static std::optional<double> capability(const toml::node& node) {
        if (!node.is_string()) return std::nullopt;
        const std::string_view text = node.as_string()->get();
        uint32_t major = 0;
        const char* end = text.data() + text.size();
        const auto [dot, problem] = std::from_chars(text.data(), end, major);
        if (problem != std::errc() || end - dot != 2 || *dot != '.' || dot[1] < '0' || dot[1] > '9' || major > 99) return std::nullopt;
        return 10.0 * major + (dot[1] - '0');
    }

    std::optional<double> with_unit(const Key& key, const toml::node& node) {
        if (node.is_string()) {
            const std::string_view text = node.as_string()->get();
            double number = 0;
            const char* end = text.data() + text.size();
            const auto [rest, problem] = std::from_chars(text.data(), end, number);
            if (problem == std::errc() && rest != end && *rest == ' ')
                for (const Suffix& suffix : kSuffixes)
                    if (suffix.unit == key.unit && suffix.text == std::string_view(rest + 1, end)) return number * suffix.factor;
        }
        std::vector<std::string_view> units;
        for (const Suffix& suffix : kSuffixes)
            if (suffix.unit == key.unit) units.push_back(suffix.text);
        fail(node.source(), fmt::format("'{}' must be a number and a unit in one text: {}", key.name, join(units)));
        return std::nullopt;
    }

    static std::string in_unit(Unit unit, double number) {
        const Suffix* best = nullptr;
        for (const Suffix& suffix : kSuffixes)
            if (suffix.unit == unit && (best == nullptr || number >= suffix.factor)) best = &suffix;
        return best == nullptr ? fmt::format("{}", number) : fmt::format("{} {}", number / best->factor, best->text);
    }

    void read_model(const toml::table& root) {
        const toml::node* node = root.get("model");
        if (node == nullptr || !node->is_table()) return;
        for (const auto& [name, entry] : *node->as_table()) {
            std::optional<Value> value = value_of(entry, name.str());
            if (!value) continue;
            const toml::node& number = *value->node;
            if (!number.is_number() || !std::isfinite(*number.value<double>())) {
                fail(number.source(), fmt::format("'{}' must be a number without a unit", name.str()));
                continue;
            }
            value->origin.text = text_of(number);
            description_.model.emplace(name.str(), *number.value<double>());
            description_.origins.emplace("model." + std::string(name.str()), std::move(value->origin));
        }
    }

    /// [transfers]: "kind.memory" = [[[bytes, ns], …], "source"]
    void read_transfers(const toml::table& root) {
        const toml::node* node = root.get("transfers");
        if (node == nullptr || !node->is_table()) return;
        for (const auto& [name, entry] : *node->as_table()) {
            if (!position(kTransferNames, name.str())) {
                fail(name.source(), fmt::format("unknown transfer '{}'; known: {}", name.str(), join(kTransferNames)));
                continue;
            }
            std::optional<Value> value = value_of(entry, name.str());
            if (!value) continue;
            const toml::array* points = value->node->as_array();
            Curve curve;
            for (size_t i = 0; points != nullptr && i < points->size(); ++i) {
                const toml::array* pair = (*points)[i].as_array();
                const bool numbers = pair != nullptr && pair->size() == 2 && (*pair)[0].is_number() && (*pair)[1].is_number();
                const CurvePoint point = numbers ? CurvePoint{*(*pair)[0].value<double>(), *(*pair)[1].value<double>()} : CurvePoint{};
                const CurvePoint before = curve.empty() ? CurvePoint{} : curve.back();
                if (!(point.bytes > before.bytes && point.ns >= before.ns && std::isfinite(point.bytes) && std::isfinite(point.ns))) {
                    fail((*points)[i].source(), fmt::format("'{}' needs points [bytes, ns], both ascending", name.str()));
                    curve.clear();
                    break;
                }
                curve.push_back(point);
            }
            if (curve.size() < 2) {
                if (file_.ok()) fail(value->node->source(), fmt::format("'{}' must be at least two points [bytes, ns]", name.str()));
                continue;
            }
            value->origin.text = fmt::format("{} points", curve.size());
            description_.transfers.emplace(name.str(), std::move(curve));
            description_.origins.emplace("transfers." + std::string(name.str()), std::move(value->origin));
        }
    }

    /// What must hold between values.
    void check_together(const toml::table& root) {
        const Description& d = description_;
        const auto demand = [&](bool holds, const char* section, const char* key, std::string message) {
            if (!holds) fail(root[section][key].node()->source(), std::move(message));
        };
        const uint64_t largest = d.shared_carveouts.back();
        demand(d.base_clock_mhz <= d.clock_mhz, "multiprocessors", "base_clock", "the base clock is above the clock");
        demand(d.line_bytes % d.sector_bytes == 0, "l1", "sector", "a line must be whole sectors");
        demand(d.max_shared_per_block_optin >= d.max_shared_per_block, "shared", "max_shared_per_block_optin", "less than max_shared_per_block");
        demand(d.max_shared_per_block_optin + d.reserved_shared_per_block <= largest, "shared", "max_shared_per_block_optin",
               "a block's shared memory and the reserved part exceed the largest carve-out");
        demand(!d.l1_shared_unified || largest <= d.l1_bytes, "shared", "shared_carveouts", "a carve-out is larger than the L1 array");
        demand(d.max_registers_per_block <= d.registers_per_sm, "multiprocessors", "max_registers_per_block", "more than registers_per_sm");
        demand(d.max_threads_per_block <= d.max_warps_per_sm * d.warp_lanes, "multiprocessors", "max_threads_per_block",
               "more threads than max_warps_per_sm holds");
        demand(d.gpcs <= d.sms, "multiprocessors", "gpcs", "more clusters than multiprocessors");
        demand(d.l2_slices % d.l2_partitions == 0, "l2", "l2_partitions", "the slices do not divide among the partitions");
    }

    base::TomlFile file_;
    Description description_;
    std::map<std::string, Source, std::less<>> sources_;
    std::set<std::string_view> missing_;
};

}  // namespace

base::Result<Description> parse(std::string_view toml, const std::string& file) { return Parser(toml, file).run(); }

}  // namespace lanescope::gpu
