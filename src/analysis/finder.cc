// Which changes a launch's patterns suggest. A candidate costs a replay, so that each has a reason in the counts; whether it is worth
// anything is not decided here.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "analysis/candidate.h"
#include "analysis/pattern.h"

namespace lanescope::analysis {
namespace {

constexpr uint64_t kSector = 32, kLine = 128, kLanes = 32;
constexpr uint64_t kLongestRecord = 128;      ///< bytes; lanes farther apart walk rows

struct Site {
    const profile::Line* line;
    const profile::Access* access;
    PatternKind kind;
    int64_t stride = 0;                       ///< of the example, see lane_stride
    uint64_t first = 0;                       ///< address of the example's first lane
    uint32_t lanes = 0;                       ///< of the example
    Surroundings::Region region;              ///< of global accesses
    double cost = 0;                          ///< bytes moved beyond the ideal

    double count(std::string_view name) const {
        const auto at = access->metrics.find(name);
        return at == access->metrics.end() ? 0 : at->second;
    }
    bool loads() const { return access->operation == "load" || access->operation == "async_copy"; }
    bool stores() const { return access->operation == "store"; }
    bool atomic() const { return access->operation == "atomic" || access->operation == "reduction"; }
    bool in(std::string_view space) const { return access->space == space; }
};

std::vector<uint64_t> addresses_of(const Site& site) {
    std::vector<uint64_t> out;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        if (site.access->example->active >> lane & 1) out.push_back(site.access->example->addresses[lane]);
    return out;
}

std::vector<Site> sites_of(const profile::Launch& launch, const Surroundings& around) {
    std::vector<Site> sites;
    for (const profile::Line& line : launch.lines)
        for (const profile::Access& access : line.accesses) {
            if (!access.example || access.example->active == 0 || access.bytes == 0) continue;
            Site site{&line, &access, kind_of(access.pattern)};
            site.lanes = uint32_t(std::popcount(access.example->active));
            site.first = access.example->addresses[size_t(std::countr_zero(access.example->active))];
            site.stride = lane_stride(access.example->active, access.example->addresses, access.bytes);
            if (site.in("global")) site.region = around.region(site.first);
            site.cost = site.in("shared") ? 128 * (site.count("wavefronts") - site.count("ideal_wavefronts")) : 32 * (site.count("sectors") - site.count("ideal_sectors"));
            sites.push_back(site);
        }
    std::stable_sort(sites.begin(), sites.end(), [](const Site& a, const Site& b) { return a.cost > b.cost; });
    return sites;
}

class Finder {
public:
    Finder(const profile::Launch& launch, const Surroundings& around) : launch_(launch), around_(around), sites_(sites_of(launch, around)) {}

    std::vector<Candidate> find() {
        records_and_columns();
        misaligned();
        shared_conflicts();
        constants();
        local_arrays();
        atomics();
        cache_policies();
        host_memory();
        std::stable_sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
        std::vector<Candidate> out;
        for (auto& [weight, change] : found_) out.push_back(change);
        return out;
    }

private:
    void add(const Candidate& change, double weight) { found_.emplace_back(weight, change); }

    static Candidate change(ChangeKind kind, const std::vector<const Site*>& sites) {
        Candidate out;
        out.kind = kind;
        for (const Site* site : sites) out.add(site->access->instruction);
        if (!sites.empty()) {
            out.begin = sites[0]->region.begin;
            out.bytes = sites[0]->region.bytes;
            out.element = sites[0]->access->bytes;
        }
        return out;
    }
    static double cost(const std::vector<const Site*>& sites) {
        return std::accumulate(sites.begin(), sites.end(), 0.0, [](double sum, const Site* site) { return sum + site->cost; });
    }

    /// Accesses whose lanes lie one record, or one row, apart.
    void records_and_columns() {
        std::map<std::pair<uint64_t, uint64_t>, std::vector<const Site*>> groups;  // allocation and stride
        for (const Site& site : sites_)
            if (site.in("global") && !site.atomic() && site.region.bytes != 0 && site.cost > 0 && uint64_t(std::abs(site.stride)) > site.access->bytes)
                groups[{site.region.begin, uint64_t(std::abs(site.stride))}].push_back(&site);
        for (const auto& [key, group] : groups) {
            const uint64_t stride = key.second;
            const bool walked = std::any_of(group.begin(), group.end(), [](const Site* site) { return 3 * site->count("walking_requests") > site->count("strided_requests"); });
            if (stride <= kLongestRecord && !walked) {
                records(group, stride);
            } else if (stride > kLongestRecord && walks_columns(group)) {
                Candidate tile = change(ChangeKind::kTile, group);
                tile.pitch = stride;
                add(tile, cost(group));
            } else {
                Candidate interleaved = change(ChangeKind::kInterleave, group);
                interleaved.pitch = stride;
                interleaved.origin = key.first;
                add(interleaved, cost(group));
            }
        }
    }

    /// Threads can't take other words instead, as they need the columns of these rows: the launch has two dimensions, or about as many
    /// requests of the other kind follow the rows (a transposition).
    bool walks_columns(const std::vector<const Site*>& group) const {
        if (launch_.grid[1] > 1 || launch_.block[1] > 1) return true;
        double down = 0, along = 0;
        for (const Site* site : group) down += site->count("requests");
        for (const Site& other : sites_)
            if (other.in("global") && other.stores() != group[0]->stores() && other.stride == int64_t(other.access->bytes)) along += other.count("requests");
        return down < 2 * along;
    }

    void records(const std::vector<const Site*>& group, uint64_t stride) {
        // The lowest field that one warp uses is taken for the record's first: where records begin can't be seen.
        uint64_t lowest = group[0]->first;
        for (const Site* site : group)
            if (site->access->example->block == group[0]->access->example->block && site->access->example->warp == group[0]->access->example->warp)
                lowest = std::min(lowest, site->stride > 0 ? site->first : site->first - stride * (site->lanes - 1));
        Candidate soa = change(ChangeKind::kStructureOfArrays, group);
        soa.pitch = stride;
        soa.origin = soa.begin + (lowest - soa.begin) % stride;
        for (const Site* site : group) {
            const Field field{uint16_t((site->first - soa.origin) % stride), uint16_t(site->access->bytes)};
            const bool known = std::any_of(soa.fields.begin(), soa.fields.begin() + soa.field_count,
                                           [&](const Field& other) { return field.begin < other.begin + other.bytes && other.begin < field.begin + field.bytes; });
            if (!known && soa.field_count < Candidate::kMostFields && field.begin + field.bytes <= stride) soa.fields[soa.field_count++] = field;
        }
        add(soa, cost(group));
        Candidate blocked = soa;
        blocked.kind = ChangeKind::kBlockedArrays;
        add(blocked, cost(group) * 0.99);
        widen(group, soa);
    }

    /// Fields of one warp's records that fill an aligned 16 or 8 bytes.
    void widen(const std::vector<const Site*>& group, const Candidate& soa) {
        for (const uint32_t width : {16u, 8u}) {
            if (soa.pitch % width != 0 || soa.origin % width != 0) continue;
            std::map<std::pair<bool, uint64_t>, std::vector<const Site*>> parts;  // stores, which vector of the record
            for (const Site* site : group)
                if (site->access->bytes < width) parts[{site->stores(), (site->first - soa.origin) % soa.pitch / width}].push_back(site);
            std::vector<const Site*> all;
            for (const auto& [part, sites] : parts) {
                uint32_t covered = 0;
                for (const Site* site : sites) covered += site->access->bytes;
                // Loads may bring what nobody asked for, stores may not write it.
                if (sites.size() >= 2 && (covered == width || (!part.first && 2 * covered > width && covered < width))) all.insert(all.end(), sites.begin(), sites.end());
            }
            if (all.empty() || all.size() > 64) continue;   // Relayout keeps a bit for each
            Candidate wide = change(ChangeKind::kWiden, all);
            wide.pitch = soa.pitch;
            wide.width = width;
            add(wide, cost(all) * 0.98);
            return;
        }
    }

    /// Neighbouring words that do not start at a sector: rows of an odd length, or data that begins somewhere.
    void misaligned() {
        std::map<uint64_t, std::vector<const Site*>> regions;
        for (const Site& site : sites_)
            if (site.in("global") && !site.atomic() && site.region.bytes != 0) regions[site.region.begin].push_back(&site);
        for (const auto& [begin, all] : regions) {
            std::vector<const Site*> off;
            for (const Site* site : all)
                if (site->cost > 0.02 * 32 * site->count("sectors") && (site->stride == int64_t(site->access->bytes) || site->kind == PatternKind::kMisaligned || runs(*site))) off.push_back(site);
            if (off.empty()) continue;
            if (const uint64_t row = row_length(*off[0]); row % kSector != 0 && row > 0) {
                Candidate pitch = change(ChangeKind::kPitch, off);
                pitch.pitch = row;
                pitch.new_pitch = (row + kSector - 1) / kSector * kSector;
                pitch.origin = row_start(*off[0], row);
                add(pitch, cost(off));
            }
            const uint64_t shift = off[0]->first % kSector;
            const bool same = std::all_of(all.begin(), all.end(), [&](const Site* site) { return site->first % kSector == shift; });
            if (shift != 0 && same) {
                Candidate aligned = change(ChangeKind::kAlign, off);
                aligned.origin = shift;
                add(aligned, cost(off));
            }
        }
    }

    /// Runs of neighbouring words that all begin at the same place of a sector.
    static bool runs(const Site& site) {
        const std::vector<uint64_t> at = addresses_of(site);
        size_t breaks = 0;
        for (size_t i = 1; i < at.size(); ++i) {
            if (at[i] == at[i - 1] + site.access->bytes) continue;
            ++breaks;
            if (at[i] % kSector != at[0] % kSector) return false;
        }
        return breaks > 0 && breaks < at.size() / 2;
    }

    /// Distance of the rows that neighbouring warps or blocks begin; 0: they lie side by side, or differently far apart.
    uint64_t row_length(const Site& site) const {
        const auto samples = around_.samples(site.access->instruction);
        const uint64_t span = uint64_t(site.lanes) * site.access->bytes;
        std::map<uint64_t, unsigned> distances;
        for (const auto& a : samples)
            for (const auto& b : samples) {
                const bool next = (a.block == b.block && b.warp == a.warp + 1) || (b.block == a.block + 1 && a.warp == 0 && b.warp == 0);
                if (next && b.address > a.address && b.address - a.address > span / 2) ++distances[b.address - a.address];
            }
        const auto most = std::max_element(distances.begin(), distances.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
        return most == distances.end() || most->first == span ? 0 : most->first;
    }
    uint64_t row_start(const Site& site, uint64_t row) const {
        uint64_t first = site.first;
        for (const auto& sample : around_.samples(site.access->instruction)) first = std::min(first, sample.address);
        return site.region.begin + (first - site.region.begin) % row / kSector * kSector;
    }

    void shared_conflicts() {
        std::vector<Surroundings::Region> done;
        for (const Site& site : sites_) {
            if (!site.in("shared") || site.kind != PatternKind::kBankConflict || site.cost <= 0) continue;
            Surroundings::Region array;
            for (const Surroundings::Region& each : around_.shared_arrays)
                if (site.first - each.begin < each.bytes) array = each;
            if (array.bytes == 0 || std::any_of(done.begin(), done.end(), [&](const auto& each) { return each.begin == array.begin; })) continue;
            done.push_back(array);
            std::vector<const Site*> all, hurt;
            for (const Site& other : sites_)
                if (other.in("shared") && other.first - array.begin < array.bytes) {
                    all.push_back(&other);
                    if (other.kind == PatternKind::kBankConflict) hurt.push_back(&other);
                }
            // Rows of the array: the distance of lanes that lie a row of banks or more apart; smaller ones wrap around at 128 bytes.
            const std::vector<uint64_t> at = addresses_of(site);
            uint64_t row = 0;
            for (size_t i = 1; i < at.size(); ++i)
                if (const uint64_t distance = at[i] > at[i - 1] ? at[i] - at[i - 1] : at[i - 1] - at[i]; distance >= kLine && (row == 0 || distance < row)) row = distance;
            if (row == 0) row = kLine;
            uint32_t widest = 4;
            for (const Site* other : all) widest = std::max(widest, other->access->bytes);
            Candidate pad = change(ChangeKind::kPad, hurt);
            pad.begin = array.begin;
            pad.bytes = array.bytes;
            pad.pitch = row;
            pad.new_pitch = row + widest;
            pad.more_shared_bytes = uint32_t(array.bytes / row * widest);
            if (around_.shared_bytes + pad.more_shared_bytes <= around_.most_shared_bytes) add(pad, cost(hurt));
            if (row % kLine != 0) continue;
            Candidate swizzle = pad;
            swizzle.kind = ChangeKind::kSwizzle;
            swizzle.new_pitch = swizzle.more_shared_bytes = 0;
            swizzle.width = widest;
            add(swizzle, cost(hurt) * 0.99);
        }
    }

    void constants() {
        std::vector<const Site*> divergent;
        for (const Site& site : sites_)
            if (site.in("constant") && site.kind == PatternKind::kConstantDivergent) divergent.push_back(&site);
        double words = 0;
        for (const Site* site : divergent) words += site->count("constant_words");
        if (!divergent.empty()) add(change(ChangeKind::kTableInGlobal, divergent), 4 * words);
    }

    void local_arrays() {
        std::vector<const Site*> local;
        double sectors = 0;
        for (const Site& site : sites_)
            if (site.in("local")) {
                local.push_back(&site);
                sectors += site.count("sectors");
            }
        if (local.empty()) return;
        const uint64_t threads = uint64_t(launch_.block[0]) * launch_.block[1] * launch_.block[2], bytes = (threads + kLanes - 1) / kLanes * kLanes * around_.local_bytes;
        if (bytes == 0 || around_.shared_bytes + bytes > around_.most_shared_bytes) return;
        Candidate moved = change(ChangeKind::kArrayInShared, local);
        moved.more_shared_bytes = uint32_t(bytes);
        moved.pitch = around_.local_bytes;
        add(moved, 32 * sectors);
    }

    void atomics() {
        std::vector<const Site*> shared_address;
        double lanes = 0;
        for (const Site& site : sites_) {
            if (!site.in("global") || !site.atomic()) continue;
            std::vector<uint64_t> at = addresses_of(site);
            std::sort(at.begin(), at.end());
            if (std::adjacent_find(at.begin(), at.end()) == at.end() || site.count("sectors") <= site.count("requests")) continue;
            shared_address.push_back(&site);
            lanes += site.count("sectors");
        }
        if (!shared_address.empty()) add(change(ChangeKind::kCombine, shared_address), 32 * lanes);
        shared_bins();
    }

    /// Small arrays that nothing but reductions touches: a block can have its own. Worth it where a block updates each word more than once.
    void shared_bins() {
        std::map<uint64_t, std::vector<const Site*>> regions;
        for (const Site& site : sites_)
            if (site.in("global") && site.region.bytes != 0 && !site.region.host) regions[site.region.begin].push_back(&site);
        const double blocks = double(launch_.grid[0]) * launch_.grid[1] * launch_.grid[2];
        for (const auto& [begin, all] : regions) {
            const uint64_t bytes = all[0]->region.bytes;
            double lanes = 0;
            for (const Site* site : all) lanes += site->access->operation == "reduction" ? site->count("threads") : -1e300;
            if (lanes < 2 * blocks * double(bytes / all[0]->access->bytes) || around_.shared_bytes + bytes > around_.most_shared_bytes) continue;
            Candidate bins = change(ChangeKind::kSharedBins, all);
            bins.more_shared_bytes = uint32_t(bytes);
            add(bins, 32 * lanes);
        }
    }

    void cache_policies() {
        std::vector<const Site*> past, through, used_once;
        const auto stored = [&](uint64_t region) {
            return std::any_of(sites_.begin(), sites_.end(), [&](const Site& site) { return !site.loads() && site.in("global") && site.region.begin == region; });
        };
        double past_sectors = 0, kept = 0, once = 0;
        for (const Site& site : sites_) {
            if (!site.in("global") || site.access->operation != "load") continue;
            const double sectors = site.count("sectors"), hits = site.count("l1_hits");
            if (!around_.through_l1(site.access->instruction)) {
                // Repeated in L2 or fetched beside others of the same sector: worth a cache nearer by. Data that the kernel writes may change.
                if (!stored(site.region.begin)) past.push_back(&site), past_sectors += site.count("l2_read_hits") + site.cost / 32;
            } else if (hits < 0.02 * sectors) {
                used_once.push_back(&site), once += sectors;
            } else if (hits < 0.98 * sectors) {
                through.push_back(&site), kept += sectors - hits;
            }
        }
        if (!past.empty() && past_sectors > 0) add(change(ChangeKind::kReadOnly, past), 32 * past_sectors);
        if (!used_once.empty() && !through.empty()) add(change(ChangeKind::kBypassL1, used_once), 32 * std::min(once, kept));
        // Stores that nobody reads here take room in L2 that loads want: those fetch from memory more than there is to read.
        std::vector<const Site*> streams;
        std::map<uint64_t, double> read;
        double fetched = 0, written = 0;
        for (const Site& site : sites_)
            if (site.in("global") && !site.stores()) fetched += site.count("dram_read_bytes"), read[site.region.begin] = double(site.region.bytes);
        for (const Site& site : sites_)
            if (site.in("global") && site.stores() && !read.contains(site.region.begin)) streams.push_back(&site), written += 32 * site.count("l2_writes");
        const double there = std::accumulate(read.begin(), read.end(), 0.0, [](double sum, const auto& each) { return sum + each.second; });
        if (!streams.empty() && fetched > 1.1 * there) add(change(ChangeKind::kStreamStores, streams), std::min(written, fetched - there));
    }

    void host_memory() {
        std::map<uint64_t, std::vector<const Site*>> regions;
        for (const Site& site : sites_)
            if (site.in("global") && site.region.host) regions[site.region.begin].push_back(&site);
        for (const auto& [begin, all] : regions) {
            double moved = 0;
            for (const Site* site : all) moved += site->count("link_read_bytes") + site->count("link_write_bytes");
            if (moved == 0) continue;
            Candidate copied = change(ChangeKind::kDeviceMemory, all);
            for (const Site* site : all) copied.width |= site->loads() ? 1 : site->stores() ? 2 : 3;
            add(copied, 20 * moved);
        }
    }

    const profile::Launch& launch_;
    const Surroundings& around_;
    std::vector<Site> sites_;
    std::vector<std::pair<double, Candidate>> found_;
};

}  // namespace

std::vector<Candidate> candidates(const profile::Launch& launch, const Surroundings& around) { return Finder(launch, around).find(); }

}  // namespace lanescope::analysis
