// Reads profiles back, trusting nothing: every member is checked for type and range, and a mistake is named by its JSON path.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "profile/profile.h"

namespace lanescope::profile {
namespace {

using Json = nlohmann::json;

constexpr int kDeepest = 64;  // a profile nests 8 levels; a description may nest some

/// Thrown inside this file only.
struct Wrong {
    base::Diagnostic diagnostic;
};

base::Place place_of_byte(std::string_view text, size_t byte, const std::string& file) {
    const std::string_view before = text.substr(0, std::min(byte, text.size()));
    const size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    return {file, static_cast<uint32_t>(1 + std::count(before.begin(), before.end(), '\n')), static_cast<uint32_t>(before.size() - line_start + 1)};
}

/// A JSON value and the way to it.
class Node {
public:
    Node(const Json& json, std::string path, const std::string& file) : json_(json), path_(std::move(path)), file_(file) {}

    [[noreturn]] void fail(std::string_view message) const {
        throw Wrong{base::error(fmt::format("{}: {}", path_.empty() ? "the profile" : path_, message), {file_, 0, 0})};
    }
    const Json& json() const { return json_; }
    void expect_object() const {
        if (!json_.is_object()) fail(fmt::format("is {}, not an object", json_.type_name()));
    }
    bool has(const char* name) const { return json_.contains(name); }
    Node member(const std::string& name) const {
        expect_object();
        const auto at = json_.find(name);
        if (at == json_.end()) fail(fmt::format("has no \"{}\"", name));
        return child(*at, name);
    }
    template <class Visit>
    void members(Visit visit) const {
        expect_object();
        for (const auto& [name, value] : json_.items()) visit(name, child(value, name));
    }
    template <class Visit>
    void elements(Visit visit) const {
        if (!json_.is_array()) fail(fmt::format("is {}, not an array", json_.type_name()));
        size_t index = 0;
        for (const Json& value : json_) visit(Node(value, fmt::format("{}[{}]", path_, index++), file_));
    }
    std::string text() const {
        if (!json_.is_string()) fail(fmt::format("is {}, not a string", json_.type_name()));
        return json_.get<std::string>();
    }
    template <size_t N>
    std::string one_of(const std::array<std::string_view, N>& allowed) const {
        std::string value = text();
        if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) fail(fmt::format("\"{}\" is not one of {}", value, fmt::join(allowed, ", ")));
        return value;
    }
    template <class Integer>
    Integer integer() const {
        const uint64_t most = std::numeric_limits<Integer>::max();
        if (!json_.is_number_unsigned() || json_.get<uint64_t>() > most) fail(fmt::format("is not an integer from 0 to {}", most));
        return static_cast<Integer>(json_.get<uint64_t>());
    }
    bool boolean() const {
        if (!json_.is_boolean()) fail(fmt::format("is {}, not true or false", json_.type_name()));
        return json_.get<bool>();
    }
    double real(double least) const {
        if (!json_.is_number()) fail(fmt::format("is {}, not a number", json_.type_name()));
        const auto value = json_.get<double>();
        if (!std::isfinite(value)) fail("is not finite");
        if (value < least) fail("is negative");
        return value;
    }

private:
    Node child(const Json& value, const std::string& name) const {
        return {value, path_.empty() ? name : fmt::format("{}.{}", path_, name), file_};
    }

    const Json& json_;
    std::string path_;
    const std::string& file_;
};

constexpr double kAny = -std::numeric_limits<double>::max();

Metrics read_metrics(const Node& node, double least) {
    Metrics metrics;
    node.members([&](const std::string& name, const Node& value) { metrics.emplace(name, value.real(least)); });
    return metrics;
}

std::vector<std::string> read_texts(const Node& node) {
    std::vector<std::string> texts;
    node.elements([&](const Node& value) { texts.push_back(value.text()); });
    return texts;
}

std::map<std::string, std::string> read_map(const Node& node) {
    std::map<std::string, std::string> map;
    node.members([&](const std::string& name, const Node& value) { map.emplace(name, value.text()); });
    return map;
}

std::vector<Frame> read_frames(const Node& node) {
    std::vector<Frame> frames;
    node.elements([&](const Node& value) {
        frames.push_back({value.member("file").text(), value.member("line").integer<uint32_t>(),
                          value.has("function") ? value.member("function").text() : std::string()});
    });
    return frames;
}

Access read_access(const Node& node) {
    Access access;
    node.member("space"), node.member("op");
    node.members([&](const std::string& name, const Node& value) {
        if (name == "space") {
            access.space = value.one_of(kSpaces);
        } else if (name == "op") {
            access.operation = value.one_of(kOperations);
        } else if (name == "bytes") {
            access.bytes = value.integer<uint32_t>();
        } else if (name == "instruction") {
            access.instruction = value.integer<uint32_t>();
        } else if (name == "pattern") {
            access.pattern = value.text();
        } else if (name == "example") {
            ExampleWarp example{value.member("block").integer<uint64_t>(), value.member("warp").integer<uint32_t>(),
                                value.member("active").integer<uint32_t>(), {}};
            value.member("addresses").elements([&](const Node& address) { example.addresses.push_back(address.integer<uint64_t>()); });
            if (example.addresses.size() != 32) value.member("addresses").fail("does not hold 32 addresses");
            access.example = std::move(example);
        } else {
            access.metrics.emplace(name, value.real(0));
        }
    });
    return access;
}

Line read_line(const Node& node) {
    Line line;
    line.file = node.member("file").text();
    line.line = node.member("line").integer<uint32_t>();
    if (node.has("function")) line.function = node.member("function").text();
    line.inlined_from = read_frames(node.member("inlined_from"));
    line.metrics = read_metrics(node.member("metrics"), 0);
    node.member("accesses").elements([&](const Node& access) { line.accesses.push_back(read_access(access)); });
    return line;
}

void read_dim(const Node& node, uint32_t (&dim)[3]) {
    size_t count = 0;
    node.elements([&](const Node& value) {
        if (count < 3) dim[count] = value.integer<uint32_t>();
        ++count;
    });
    if (count != 3) node.fail("does not hold 3 numbers");
}

WhatIf read_what_if(const Node& node) {
    WhatIf tried;
    tried.change = node.member("change").text();
    tried.where = read_frames(node.member("where"));
    if (node.has("instructions"))
        node.member("instructions").elements([&](const Node& value) { tried.instructions.push_back(value.integer<uint32_t>()); });
    if (node.has("parameters")) tried.parameters = read_metrics(node.member("parameters"), 0);
    tried.before = read_metrics(node.member("before"), 0);
    tried.after = read_metrics(node.member("after"), 0);
    return tried;
}

Launch read_launch(const Node& node) {
    Launch launch;
    launch.index = node.member("index").integer<uint64_t>();
    launch.kernel = node.member("kernel").text();
    launch.symbol = node.member("symbol").text();
    read_dim(node.member("grid"), launch.grid);
    read_dim(node.member("block"), launch.block);
    if (node.has("stream")) launch.stream = node.member("stream").integer<uint32_t>();
    if (node.has("start_ns")) launch.start_ns = node.member("start_ns").real(0);
    launch.metrics = read_metrics(node.member("metrics"), 0);
    node.member("lines").elements([&](const Node& line) { launch.lines.push_back(read_line(line)); });
    if (node.has("bound")) launch.bound = node.member("bound").text();
    if (node.has("second_bound")) launch.second_bound = node.member("second_bound").text();
    if (node.has("units"))
        node.member("units").members([&](const std::string& name, const Node& unit) {
            launch.units.push_back({name, unit.member("of_peak").real(0), unit.member("busy").real(0)});
        });
    if (node.has("notes")) launch.notes = read_texts(node.member("notes"));
    if (node.has("absent")) launch.absent = read_map(node.member("absent"));
    if (node.has("what_if"))
        node.member("what_if").elements([&](const Node& tried) { launch.what_if.push_back(read_what_if(tried)); });
    return launch;
}

Transfer read_transfer(const Node& node) {
    Transfer transfer;
    transfer.kind = node.member("kind").text();
    transfer.memory = node.member("memory").text();
    transfer.bytes = node.member("bytes").integer<uint64_t>();
    if (node.has("stream")) transfer.stream = node.member("stream").integer<uint32_t>();
    if (node.has("start_ns")) transfer.start_ns = node.member("start_ns").real(0);
    if (node.has("duration_ns")) transfer.duration_ns = node.member("duration_ns").real(0);
    if (node.has("launch")) transfer.launch = node.member("launch").integer<uint64_t>();
    return transfer;
}

Fault read_fault(const Node& node) {
    Fault fault;
    fault.kind = node.member("kind").text();
    fault.message = node.member("message").text();
    if (node.has("warning")) fault.warning = node.member("warning").boolean();
    if (node.has("launch")) fault.launch = node.member("launch").integer<uint64_t>();
    if (node.has("where")) fault.where = read_frames(node.member("where"));
    if (node.has("other")) fault.other = read_frames(node.member("other"));
    if (node.has("numbers")) fault.numbers = read_metrics(node.member("numbers"), kAny);
    return fault;
}

Profile read_profile(const Node& node) {
    node.expect_object();
    if (const std::string schema = node.member("schema").text(); schema != "lanescope-profile/1")
        node.member("schema").fail(fmt::format("is \"{}\"; this program reads lanescope-profile/1", schema));
    Profile profile;
    profile.backend = node.member("backend").one_of(std::array<std::string_view, 2>{"emulated", "hardware"});
    const Node gpu = node.member("gpu");
    profile.gpu_name = gpu.member("name").text();
    Json description = Json::object();
    gpu.members([&](const std::string& name, const Node& value) {
        if (name != "name") description[name] = value.json();
    });
    profile.gpu_json = description.dump();
    profile.argv = read_texts(node.member("program").member("argv"));
    if (node.has("settings")) profile.settings = read_map(node.member("settings"));
    node.member("launches").elements([&](const Node& launch) { profile.launches.push_back(read_launch(launch)); });
    node.member("transfers").elements([&](const Node& transfer) { profile.transfers.push_back(read_transfer(transfer)); });
    node.member("faults").elements([&](const Node& fault) { profile.faults.push_back(read_fault(fault)); });
    if (node.has("sources"))
        node.member("sources").members([&](const std::string& file, const Node& lines) { profile.sources.emplace(file, read_texts(lines)); });
    return profile;
}

/// nlohmann's message without its own prefix: "unexpected end of input".
std::string plain(const std::string& what) {
    const size_t bracket = what.find("] ");
    const size_t colon = what.find(": ", bracket == std::string::npos ? 0 : bracket);
    return colon == std::string::npos ? what : what.substr(colon + 2);
}

template <class Read>
auto read_json(std::string_view text, const std::string& file, Read read) -> base::Result<decltype(read(std::declval<const Node&>()))> {
    try {
        const Json json = Json::parse(text.begin(), text.end(), [&](int depth, Json::parse_event_t, const Json&) {
            if (depth > kDeepest) throw Wrong{base::error(fmt::format("nests deeper than {} levels", kDeepest), {file, 0, 0})};
            return true;
        });
        return read(Node(json, "", file));
    } catch (const Wrong& wrong) {
        return wrong.diagnostic;
    } catch (const Json::parse_error& error) {
        return base::error("is not JSON: " + plain(error.what()), place_of_byte(text, error.byte == 0 ? 0 : error.byte - 1, file));
    } catch (const Json::exception& error) {
        return base::error("is not JSON: " + plain(error.what()), {file, 0, 0});
    }
}

}  // namespace

base::Result<Profile> from_json(std::string_view json, const std::string& file) { return read_json(json, file, read_profile); }
base::Result<Launch> launch_from_json(std::string_view json, const std::string& file) { return read_json(json, file, read_launch); }
base::Result<Transfer> transfer_from_json(std::string_view json, const std::string& file) { return read_json(json, file, read_transfer); }
base::Result<Fault> fault_from_json(std::string_view json, const std::string& file) { return read_json(json, file, read_fault); }

}  // namespace lanescope::profile
