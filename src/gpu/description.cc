#include "gpu/description.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "gpu/embedded.h"
#include "gpu/keys.h"

namespace lanescope::gpu {
namespace {

std::filesystem::path folder_of_environment() {
    const char* folder = std::getenv("LANESCOPE_GPUS");
    return folder == nullptr ? "" : folder;
}

base::Result<Description> load_file(const std::filesystem::path& path) {
    base::Result<std::string> text = base::read_file(path, 1 << 20);
    if (!text) return text.errors();
    return parse(*text, path.string());
}

}  // namespace

double Description::peak_bytes_per_second() const { return bus_bits / 8.0 * memory_clock_mhz * 1e6 * transfers_per_clock; }

uint64_t Description::l1_cache_bytes(uint64_t shared) const {
    if (!l1_shared_unified) return l1_bytes;
    const auto carveout = std::lower_bound(shared_carveouts.begin(), shared_carveouts.end(), shared);
    return l1_bytes - (carveout == shared_carveouts.end() ? shared_carveouts.back() : *carveout);
}

std::string_view to_string(Confidence confidence) { return kConfidenceNames[static_cast<size_t>(confidence)]; }

std::vector<Row> rows(const Description& description) {
    std::vector<Row> out;
    const auto add = [&](std::string_view section, std::string_view name, std::string_view origin_name) {
        const auto found = description.origins.find(origin_name);
        if (found == description.origins.end()) return;
        const Description::Origin& origin = found->second;
        out.push_back({std::string(section), std::string(name), origin.text, origin.source, origin.confidence});
    };
    for (const Key& key : keys()) add(key.section, key.name, key.name);
    for (const auto& [name, value] : description.model) add("model", name, "model." + name);
    for (const auto& [name, curve] : description.transfers) add("transfers", name, "transfers." + name);
    return out;
}

std::string to_json(const Description& description) {
    nlohmann::ordered_json json;
    json["name"] = description.name;
    for (const Key& key : keys())
        std::visit(
            [&](auto member) {
                const auto& value = description.*member;
                const std::string name(key.name);
                if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Coalescing>) json[name] = description.origins.at(name).text;
                else if (!key.may_be_unknown || description.origins.at(name).text != "unknown") json[name] = value;
            },
            key.member);
    json["peak_bytes_per_second"] = description.peak_bytes_per_second();
    return json.dump();
}

base::Result<Description> load(const std::string& name) {
    if (name.ends_with(".toml")) return load_file(name);
    const bool plain = name.find_first_of("/\\") == std::string::npos;
    if (const auto folder = folder_of_environment(); plain && !folder.empty()) {
        std::error_code ignored;
        if (const auto path = folder / (name + ".toml"); std::filesystem::exists(path, ignored)) return load_file(path);
    }
    for (const Embedded& file : embedded())
        if (file.name == name) return parse(file.text, fmt::format("gpus/{}.toml", name));
    return base::error(fmt::format("unknown GPU '{}'; known: {}", name, fmt::join(known_names(), ", ")));
}

std::vector<std::string> known_names() {
    std::set<std::string> names;
    for (const Embedded& file : embedded()) names.emplace(file.name);
    std::error_code problem;
    for (auto entry = std::filesystem::directory_iterator(folder_of_environment(), problem); !problem && entry != end(entry); entry.increment(problem))
        if (entry->path().extension() == ".toml") names.insert(entry->path().stem().string());
    return {names.begin(), names.end()};
}

}  // namespace lanescope::gpu
