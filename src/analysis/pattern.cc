#include "analysis/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

namespace lanescope::analysis {
namespace {

constexpr PatternText kTexts[] = {
#define PATTERN(kind, name, meaning, cost, remedy) {PatternKind::kind, name, meaning, cost, remedy},
#include "analysis/patterns.def"
#undef PATTERN
};

constexpr uint64_t kSectorBytes = 32;
constexpr int64_t kBankRowBytes = 128;   // 32 banks × 4 bytes

/// The addresses of the active lanes, in lane order.
std::vector<uint64_t> active_addresses(uint32_t active, std::span<const uint64_t> addresses) {
    std::vector<uint64_t> out;
    for (size_t lane = 0; lane < std::min<size_t>(32, addresses.size()); ++lane)
        if (active >> lane & 1) out.push_back(addresses[lane]);
    return out;
}

/// Passes that a shared access takes by its addresses: 128 bytes (32 banks × 4 bytes) a pass, distinct words of one bank serialise.
uint32_t bank_passes(uint32_t bytes, uint32_t active, std::span<const uint64_t> addresses) {
    const unsigned groups = bytes <= 4 ? 1 : bytes / 4, lanes = 32 / groups;
    uint32_t passes = 0;
    for (unsigned group = 0; group < groups; ++group) {
        std::array<std::vector<uint64_t>, 32> words;
        uint32_t worst = 0;
        for (unsigned lane = group * lanes; lane < (group + 1) * lanes && lane < addresses.size(); ++lane) {
            if (!(active >> lane & 1)) continue;
            for (uint64_t word = addresses[lane] / 4; word <= (addresses[lane] + bytes - 1) / 4; ++word) {
                auto& bank = words[word % 32];
                if (std::find(bank.begin(), bank.end(), word) == bank.end()) bank.push_back(word);
                worst = std::max(worst, static_cast<uint32_t>(bank.size()));
            }
        }
        passes += worst;
    }
    return passes;
}

/// Bytes from each lane to the next, by lane number; 0: not constant.
int64_t constant_stride(uint32_t active, const std::vector<uint64_t>& lanes) {
    int64_t stride = 0;
    for (unsigned lane = 0, i = 0, before = 0; lane < 32; ++lane) {
        if (!(active >> lane & 1)) continue;
        if (i > 0) {
            const int64_t gap = lane - before, distance = int64_t(lanes[i] - lanes[i - 1]);
            if (distance % gap != 0 || (i > 1 && distance / gap != stride)) return 0;
            stride = distance / gap;
        }
        before = lane;
        ++i;
    }
    return stride;
}

/// Neighbouring words in runs of equal length that lie a constant distance apart.
bool is_rows(const std::vector<uint64_t>& lanes, uint32_t bytes, int64_t& distance) {
    size_t run = 1;
    while (run < lanes.size() && lanes[run] == lanes[run - 1] + bytes) ++run;
    if (run < 2 || run == lanes.size()) return false;
    distance = static_cast<int64_t>(lanes[run] - lanes[0]);
    for (size_t i = 0; i < lanes.size(); ++i)
        if (lanes[i] != lanes[0] + static_cast<uint64_t>(distance) * (i / run) + bytes * (i % run)) return false;
    return true;
}

/// Runs of equal length down several columns: their lanes `stride` apart, more than a word.
bool is_columns(const std::vector<uint64_t>& lanes, uint32_t bytes, int64_t& stride) {
    for (const size_t run : {16u, 8u, 4u}) {
        if (lanes.size() % run != 0 || lanes.size() <= run) continue;
        stride = int64_t(lanes[1] - lanes[0]);
        const uint64_t next = lanes[run] - lanes[0];
        bool all = std::abs(stride) > int64_t(bytes) && next != 0;
        for (size_t i = 0; all && i < lanes.size(); ++i) all = lanes[i] == lanes[0] + next * (i / run) + uint64_t(stride) * (i % run);
        if (all) return true;
    }
    stride = 0;
    return false;
}

/// Groups of equal length in which all lanes use one word.
bool is_groups(const std::vector<uint64_t>& lanes) {
    size_t run = 1;
    while (run < lanes.size() && lanes[run] == lanes[0]) ++run;
    if (run < 2 || lanes.size() % run != 0) return false;
    for (size_t i = 0; i < lanes.size(); ++i)
        if (lanes[i] != lanes[i - i % run]) return false;
    return true;
}

Pattern global_pattern(std::string_view operation, uint32_t bytes, uint32_t active, const std::vector<uint64_t>& lanes) {
    Pattern pattern;
    std::vector<unsigned> numbers;  // of the active lanes
    for (unsigned lane = 0; lane < 32; ++lane)
        if (active >> lane & 1) numbers.push_back(lane);
    pattern.element_bytes = bytes;
    const bool atomic = operation == "atomic" || operation == "reduction", store = operation == "store";
    const bool same = std::all_of(lanes.begin(), lanes.end(), [&](uint64_t a) { return a == lanes[0]; });
    if (atomic) {
        pattern.kind = same && lanes.size() > 1 ? PatternKind::kAtomicSame : PatternKind::kAtomic;
    } else if (lanes.size() == 1) {
        pattern.kind = PatternKind::kPartial;
    } else if (same) {
        pattern.kind = PatternKind::kBroadcast;
    } else {
        // By lane number, so that lanes that take no part leave holes: see memory::Shapes.
        const auto gap = static_cast<int64_t>(numbers[1] - numbers[0]);
        const auto stride = static_cast<int64_t>(lanes[1] - lanes[0]) / gap;
        bool constant = true;
        for (size_t i = 1; i < lanes.size(); ++i) constant &= static_cast<int64_t>(lanes[i] - lanes[0]) == stride * static_cast<int64_t>(numbers[i] - numbers[0]);
        const uint64_t lowest = std::min(lanes.front(), lanes.back());
        if (constant && std::abs(stride) == int64_t(bytes)) {
            // A warp that covers less than a sector in all is aligned when it stays inside one.
            const uint64_t span = lanes.size() * bytes;
            const bool aligned = lowest % kSectorBytes == 0 || (lowest % kSectorBytes) + span <= kSectorBytes;
            pattern.kind = stride < 0 ? PatternKind::kReversed : aligned ? PatternKind::kCoalesced : PatternKind::kMisaligned;
            pattern.stride_bytes = stride;
        } else if (constant) {
            pattern.kind = PatternKind::kStrided;
            pattern.stride_bytes = stride;
        } else if (is_rows(lanes, bytes, pattern.stride_bytes)) {
            pattern.kind = PatternKind::kRows;
        } else if (is_columns(lanes, bytes, pattern.stride_bytes)) {
            pattern.kind = PatternKind::kStrided;
        } else if (is_groups(lanes)) {
            pattern.kind = PatternKind::kGroups;
        } else {
            pattern.kind = store ? PatternKind::kScatter : PatternKind::kGather;
        }
    }
    return pattern;
}

double counter(const profile::Access& access, std::string_view name) {
    const auto at = access.metrics.find(name);
    return at == access.metrics.end() ? 0 : at->second;
}

}  // namespace

std::span<const PatternText> pattern_texts() { return kTexts; }

const PatternText& text_of(PatternKind kind) {
    return *std::find_if(std::begin(kTexts), std::end(kTexts), [&](const PatternText& text) { return text.kind == kind; });
}

int64_t lane_stride(uint32_t active, std::span<const uint64_t> addresses, uint32_t bytes) {
    const std::vector<uint64_t> lanes = active_addresses(active, addresses);
    int64_t stride = constant_stride(active, lanes);
    if (stride == 0) is_columns(lanes, bytes, stride);
    return stride;
}

Pattern pattern_of(std::string_view space, std::string_view operation, uint32_t bytes, uint32_t active, std::span<const uint64_t> addresses) {
    const std::vector<uint64_t> lanes = active_addresses(active, addresses);
    Pattern pattern;
    pattern.element_bytes = bytes;
    if (space == "texture" || space == "surface") {
        pattern.kind = PatternKind::kTexture;
        return pattern;
    }
    if (lanes.empty() || bytes == 0) return pattern;
    std::vector<uint64_t> distinct = lanes;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    if (space == "shared") {
        const uint32_t ideal = bytes <= 4 ? 1 : bytes / 4, passes = bank_passes(bytes, active, addresses);
        pattern.ways = (passes + ideal - 1) / ideal;
        pattern.kind = passes > ideal ? PatternKind::kBankConflict : PatternKind::kConflictFree;
        if (passes > ideal) pattern.stride_bytes = constant_stride(active, lanes);
    } else if (space == "constant" || space == "param") {
        pattern.kind = distinct.size() == 1 ? PatternKind::kConstantUniform : PatternKind::kConstantDivergent;
        pattern.ways = static_cast<uint32_t>(distinct.size());
    } else if (space == "local") {
        // Offsets in the thread's own memory: equal offsets lie side by side.
        pattern.kind = distinct.size() == 1 ? PatternKind::kLocal : PatternKind::kLocalDivergent;
    } else {
        pattern = global_pattern(operation, bytes, active, lanes);
    }
    return pattern;
}

namespace {

struct ShapeCount {
    PatternKind kind;
    double count;
};

/// The shape of most of a global access's requests; nothing where shapes were not counted.
std::optional<ShapeCount> main_shape(const profile::Access& access, double& all) {
    const bool store = access.operation == "store";
    const ShapeCount shapes[] = {{PatternKind::kPartial, counter(access, "single_lane_requests")},
                                 {PatternKind::kBroadcast, counter(access, "uniform_requests")},
                                 {PatternKind::kCoalesced, counter(access, "contiguous_requests")},
                                 {PatternKind::kReversed, counter(access, "reversed_requests")},
                                 {PatternKind::kStrided, counter(access, "strided_requests")},
                                 {PatternKind::kRows, counter(access, "row_requests")},
                                 {PatternKind::kGroups, counter(access, "group_requests")},
                                 {store ? PatternKind::kScatter : PatternKind::kGather, counter(access, "irregular_requests")}};
    all = 0;
    const ShapeCount* most = shapes;
    for (const ShapeCount& shape : shapes) {
        all += shape.count;
        if (shape.count > most->count) most = &shape;
    }
    return all > 0 ? std::optional(*most) : std::nullopt;
}

/// Lanes take part with others between them that do not.
bool has_holes(uint32_t active) {
    const uint32_t from_first = active >> std::countr_zero(active | 0x80000000u);
    return (from_first & (from_first + 1)) != 0;
}

void refine_global(const profile::Access& access, Pattern& pattern) {
    const bool atomic = access.operation == "atomic" || access.operation == "reduction";
    double all = 0;
    const PatternKind example = pattern.kind;
    const int64_t example_stride = pattern.stride_bytes;
    const auto shape = main_shape(access, all);
    if (shape && atomic) {
        pattern.kind = shape->kind == PatternKind::kBroadcast ? PatternKind::kAtomicSame : PatternKind::kAtomic;
        if (shape->kind == PatternKind::kBroadcast) pattern.share = shape->count / all;
    } else if (shape) {
        // A regular example of the same kind knows sign and distance exactly; the counters know the mean.
        const double mean = shape->kind == PatternKind::kStrided ? counter(access, "stride_bytes") / shape->count : 0;
        const bool example_fits = pattern.kind == shape->kind && (shape->kind != PatternKind::kStrided || std::abs(double(std::abs(pattern.stride_bytes)) - mean) < 0.5);
        if (!example_fits) pattern.stride_bytes = std::llround(mean);
        // What the counters call irregular may be columns of a block narrower than a warp: only the example shows it.
        const bool columns = example == PatternKind::kStrided && shape->kind != PatternKind::kStrided && counter(access, "irregular_requests") == shape->count;
        pattern.kind = columns ? PatternKind::kStrided : shape->kind;
        if (columns) pattern.stride_bytes = example_stride;
        pattern.share = shape->count / all;
    }
    if (counter(access, "ideal_sectors") == 0 || atomic) return;
    const bool at_ideal = counter(access, "sectors") <= counter(access, "ideal_sectors") * 1.0001;
    const bool contiguous = pattern.kind == PatternKind::kCoalesced || pattern.kind == PatternKind::kReversed || pattern.kind == PatternKind::kMisaligned;
    if (contiguous && !at_ideal && access.example && has_holes(access.example->active)) pattern.kind = PatternKind::kPartial;
    // Where others of another kind cause the excess, the example tells whether these are aligned.
    else if (contiguous && !at_ideal && (pattern.share > 0.95 || example == PatternKind::kMisaligned)) pattern.kind = PatternKind::kMisaligned;
    else if (pattern.kind == PatternKind::kMisaligned && at_ideal) pattern.kind = PatternKind::kCoalesced;
    if (pattern.kind == PatternKind::kUnknown && at_ideal) pattern.kind = PatternKind::kCoalesced;
}

}  // namespace

Pattern pattern_of(const profile::Access& access) {
    Pattern pattern;
    pattern.element_bytes = access.bytes;
    if (access.example)
        pattern = pattern_of(access.space, access.operation, access.bytes, access.example->active, access.example->addresses);
    // Counters speak for all requests, an example for one: where they disagree, counters decide.
    const double instructions = counter(access, "instructions");
    if (access.space == "shared" && counter(access, "ideal_wavefronts") > 0) {
        const double ratio = counter(access, "wavefronts") / counter(access, "ideal_wavefronts");
        pattern.kind = ratio > 1.05 ? PatternKind::kBankConflict : PatternKind::kConflictFree;
        pattern.ways = static_cast<uint32_t>(std::max(2.0, std::round(ratio)));
    } else if (access.space == "constant" && instructions > 0 && counter(access, "constant_words") > 0) {
        const double words = counter(access, "constant_words") / instructions;
        pattern.kind = words > 1.05 ? PatternKind::kConstantDivergent : PatternKind::kConstantUniform;
        pattern.ways = static_cast<uint32_t>(std::max(2.0, std::round(words)));
    } else if (access.space == "global") {
        refine_global(access, pattern);
    }
    return pattern;
}

Rereads rereads_of(std::string_view operation, PatternKind kind, const profile::Metrics& metrics, bool cold) {
    static constexpr PatternKind kInOrder[] = {PatternKind::kCoalesced, PatternKind::kMisaligned, PatternKind::kBroadcast, PatternKind::kReversed, PatternKind::kGroups};
    const auto get = [&](std::string_view name) {
        const auto at = metrics.find(name);
        return at == metrics.end() ? 0 : at->second;
    };
    Rereads out;
    const double sectors = get("sectors"), missed = sectors - get("l1_hits"), fetched = get("dram_read_bytes");
    if (operation != "load" || std::find(std::begin(kInOrder), std::end(kInOrder), kind) == std::end(kInOrder) || missed <= 0) return out;
    if (get("l1_hits") > 0) out.by_warps = sectors / missed;
    if (cold && fetched > 0) out.by_blocks = std::max(1.0, 32 * missed / fetched);
    return out;
}

std::string label(const Pattern& pattern) {
    if (pattern.kind == PatternKind::kUnknown) return {};
    const std::string name(text_of(pattern.kind).name);
    std::string out = name;
    switch (pattern.kind) {
        case PatternKind::kStrided: out = fmt::format("{} {} B", name, pattern.stride_bytes); break;
        case PatternKind::kTransposed: out = fmt::format("{} {} B", name, std::abs(pattern.stride_bytes)); break;
        case PatternKind::kRecordField: out = fmt::format("{}, {} B", name, std::abs(pattern.stride_bytes)); break;
        case PatternKind::kRows:
            if (pattern.stride_bytes != 0) out = fmt::format("{} {} B apart", name, pattern.stride_bytes);
            break;
        case PatternKind::kBankConflict:
            out = fmt::format("{}-way {}", pattern.ways, name);
            // Lanes a row of banks or more apart go down a column of the array: the layout is to blame; nearer ones leave words out.
            if (const int64_t apart = std::abs(pattern.stride_bytes); apart != 0) out += fmt::format(" by {} {} B", apart >= kBankRowBytes ? "layout, rows" : "stride,", apart);
            break;
        case PatternKind::kConstantDivergent: out = fmt::format("{} {} words", name, pattern.ways); break;
        default: break;
    }
    if (pattern.share < 0.95) out += fmt::format(" ({:.0f} %)", 100 * pattern.share);
    return out;
}

PatternKind kind_of(std::string_view label) {
    PatternKind found = PatternKind::kUnknown;
    size_t longest = 0;
    for (const PatternText& text : kTexts)
        if (text.name.size() > longest && label.find(text.name) != std::string_view::npos) {
            found = text.kind;
            longest = text.name.size();
        }
    return found;
}

namespace {

/// A thread walks a chunk of its own, in two steps or more.
bool walks(const profile::Access& access) { return 3 * counter(access, "walking_requests") > counter(access, "strided_requests"); }

/// Strided accesses of one launch with one stride whose examples lie inside the same record (less than a stride apart) use its fields.
void find_records(std::vector<std::pair<profile::Access*, Pattern>>& accesses) {
    std::map<int64_t, std::vector<size_t>> by_stride;
    for (size_t i = 0; i < accesses.size(); ++i)
        if (accesses[i].second.kind == PatternKind::kStrided && accesses[i].first->example && !walks(*accesses[i].first)) by_stride[accesses[i].second.stride_bytes].push_back(i);
    const auto first = [&](size_t i) {
        const profile::ExampleWarp& example = *accesses[i].first->example;
        return example.addresses[static_cast<size_t>(std::countr_zero(example.active)) & 31];
    };
    constexpr uint64_t kLongestRecord = 128;  // farther apart, lanes walk rows: an unrolled loop looks like fields there
    for (const auto& [stride, group] : by_stride) {
        const uint64_t record = static_cast<uint64_t>(std::abs(stride));
        if (record > kLongestRecord) continue;
        for (const size_t a : group)
            for (const size_t b : group) {
                const profile::ExampleWarp &x = *accesses[a].first->example, &y = *accesses[b].first->example;
                if (x.block != y.block || x.warp != y.warp || first(a) == first(b)) continue;
                const uint64_t apart = std::max(first(a), first(b)) - std::min(first(a), first(b));
                if (apart < record) accesses[a].second.kind = PatternKind::kRecordField;
            }
    }
}

/// A line that copies between rows and columns: one side contiguous, the other strided by more than a line of cache, in a launch of two
/// dimensions (with one, it is a stride).
void find_transposes(const profile::Line& line, std::vector<std::pair<profile::Access*, Pattern>>& accesses) {
    constexpr int64_t kLineBytes = 128;
    const auto of_line = [&](const profile::Access* access) { return access >= line.accesses.data() && access < line.accesses.data() + line.accesses.size(); };
    for (auto& [strided, pattern] : accesses) {
        if (!of_line(strided) || pattern.kind != PatternKind::kStrided || std::abs(pattern.stride_bytes) <= kLineBytes) continue;
        for (const auto& [other, other_pattern] : accesses)
            if (of_line(other) && (other->operation == "store") != (strided->operation == "store") && other->space == "global" && other->bytes == strided->bytes &&
                (other_pattern.kind == PatternKind::kCoalesced || other_pattern.kind == PatternKind::kMisaligned || other_pattern.kind == PatternKind::kRows) && counter(*other, "requests") == counter(*strided, "requests")) {
                pattern.kind = PatternKind::kTransposed;
                break;
            }
    }
}

}  // namespace

void classify(profile::Profile& profile) {
    const auto caches = profile.settings.find("caches");
    const bool cold = caches != profile.settings.end() && caches->second == "cold";
    for (profile::Launch& launch : profile.launches) {
        std::vector<std::pair<profile::Access*, Pattern>> accesses;
        for (profile::Line& line : launch.lines)
            for (profile::Access& access : line.accesses)
                if (access.pattern.empty()) accesses.emplace_back(&access, pattern_of(access));
        find_records(accesses);
        if (launch.grid[1] > 1 || launch.block[1] > 1)
            for (const profile::Line& line : launch.lines) find_transposes(line, accesses);
        for (auto& [access, pattern] : accesses) {
            access->pattern = label(pattern);
            if (access->space != "global") continue;
            const Rereads again = rereads_of(access->operation, pattern.kind, access->metrics, cold);
            if (again.by_warps >= kReread) access->metrics["rereads_by_warps"] = again.by_warps;
            if (again.by_blocks >= kReread) access->metrics["rereads_by_blocks"] = again.by_blocks;
        }
    }
}

}  // namespace lanescope::analysis
