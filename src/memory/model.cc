#include "memory/model.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>
#include <memory_resource>
#include <optional>
#include <queue>

#include "base/huge_pages.h"
#include "gpu/clusters.h"
#include "memory/async_copies.h"
#include "memory/atomic_rounds.h"
#include "memory/coalescer.h"
#include "memory/constant_cache.h"
#include "memory/l1_cache.h"
#include "memory/l2_cache.h"
#include "memory/merging.h"
#include "memory/parameters.h"
#include "memory/shared_banks.h"
#include "memory/store_path.h"
#include "memory/texture_quads.h"

namespace lanescope::memory {
namespace {

constexpr ByteMask kWholeLine{~0ull, ~0ull};
constexpr uint64_t kLocalWindow = 1ull << 56;               // far above any device address
constexpr uint64_t kStackBytes = 1024;                      // of each thread, beside its local arrays: cudaLimitStackSize as it stands at first
constexpr double kBytesPerCycle = 64;                       // from L2 to an SM, every generation since Kepler
constexpr uint64_t kBetweenLaunches = 10'000;               // cycles: every window closes

uint32_t lanes(uint32_t active) { return uint32_t(std::popcount(active)); }
uint32_t count(uint32_t sectors) { return uint32_t(std::popcount(sectors)); }
bool is_atomic(Operation operation) { return operation == Operation::kAtomic || operation == Operation::kReduction; }

Sharing sharing_of(const Access& access) {
    if (access.operation == Operation::kLoad) return Sharing::kLoad;
    return is_atomic(access.operation) && !access.increment ? Sharing::kAtomic : Sharing::kStore;
}

}  // namespace

struct Model::Impl {
    struct Sm {
        L1Cache l1;
        StorePath stores;
        std::vector<double> pending;      ///< when the lines that were asked for last are there: a ring of as many as may be waited for
        uint32_t oldest_pending = 0;
        uint64_t launch = 0;              ///< the launch whose data the L1 holds
        double pipe_seen = 0;                    ///< latest access
        double pipe_free = 0, return_free = 0;   ///< when the tag stage and the way back can be used again
        ConstantCache constants;
        double constants_free = 0;
        Busy busy;
    };
    const gpu::Description gpu;
    const Settings settings;
    const Parameters parameters;
    LaunchShape shape;
    std::vector<Counters> sites;
    Counters unattributed;
    bool l1_loads;                        ///< default loads may hit L1
    bool whole_lines;                     ///< what L1 lacks is fetched by whole lines
    uint32_t l1_lines = 0;
    uint64_t launch = 0;
    uint64_t origin = 0, last = 0;        ///< of the launch: model time of its cycle 0; latest time seen
    double l1_latency, l2_latency, dram_beyond, shared_latency, constant_fetch, link_cycles_per_byte, link_free = 0;
    uint32_t groups;                      ///< clusters of SMs whose reads are merged
    std::vector<uint32_t> clusters;       ///< by SM
    base::HugePages pages;
    std::pmr::monotonic_buffer_resource arena{size_t(16) << 20, &pages};   ///< what is read all over: the caches
    std::pmr::vector<Sm> sms{&arena};
    std::optional<ReadWindow> window;
    std::optional<L2Cache> l2;
    std::map<uint64_t, uint64_t> host;    ///< mapped host memory: begin → end, as device addresses
    Footprint footprint;
    uint32_t atomic_sent[kLanes];         ///< atomics: sectors, by line of the footprint
    uint32_t copy_passes = 0;              ///< of the asynchronous copy under way, through L1
    QuadRequests quads;
    double link_busy = 0;                 ///< this launch
    L2Cache::Work before;                 ///< the launch
    using Departure = std::pair<double, uint32_t>;            ///< when the first packet that waits in an SM leaves, and the SM
    std::priority_queue<Departure, std::vector<Departure>, std::greater<>> departures;

    Impl(const gpu::Description& description, const Settings& wanted) : gpu(description), settings(wanted), parameters(description) {
        l1_loads = settings.l1 == Settings::L1::kDefault ? gpu.l1_caches_global_by_default : settings.l1 == Settings::L1::kOn;
        whole_lines = gpu.coalescing == gpu::Coalescing::kKepler;
        const double cycles_per_ns = gpu.clock_mhz / 1000;
        l1_latency = gpu.l1_latency_ns * cycles_per_ns;
        constant_fetch = (settings.cold ? gpu.dram_latency_ns : gpu.l2_latency_ns) * cycles_per_ns;
        l2_latency = gpu.l2_latency_ns * cycles_per_ns - (gpu.l2_partitions > 1 ? parameters.l2_partition_distance_cycles / 2 : 0);
        dram_beyond = std::max(0.0, gpu.dram_latency_ns * cycles_per_ns - l2_latency - parameters.dram_spread_ns * cycles_per_ns);
        shared_latency = gpu.shared_latency_ns * cycles_per_ns;
        link_cycles_per_byte = gpu.link_bytes_per_second > 0 ? gpu.clock_mhz * 1e6 / gpu.link_bytes_per_second : 0;
        groups = std::max(1u, gpu.gpcs);
        clusters = gpu::clusters(gpu).of_sm;
        if (settings.counts_only) return;
        const auto most_lines = uint32_t(gpu.l1_cache_bytes(0) / kLineBytes);
        sms.reserve(std::max(1u, gpu.sms));
        while (sms.size() < sms.capacity()) sms.emplace_back(L1Cache(most_lines, &arena)).stores.configure(parameters, gpu.schedulers_per_sm);
        if (gpu.l1_request_coalescer) window.emplace(&arena).reset(uint32_t(parameters.coalescer_reads), groups, uint32_t(parameters.coalescer_spread_cycles));
        l2.emplace(gpu, parameters, &arena);
    }

    // --- counting -------------------------------------------------------------------------------------------------------------

    void count_footprint(Counters& c) const {
        c.requests += 1;
        c.tags += footprint.lines;
        c.sectors += footprint.sectors;
        c.ideal_sectors += ideal_sectors(footprint);
        c.requested_bytes += footprint.requested_bytes;
        c.unique_bytes += footprint.unique_bytes;
    }

    /// Kepler moves one transaction for each 128-byte line: all of it through L1, the 32-byte segments needed without.
    void count_transactions(Counters& c, bool through_l1) const {
        c.transactions += footprint.lines;
        c.transaction_bytes += through_l1 ? uint64_t(kLineBytes) * footprint.lines : uint64_t(kSectorBytes) * footprint.sectors;
    }

    bool loads_through_l1(const Access& access) const {
        switch (access.cache) {
            case CacheOperator::kDefault: return l1_loads;
            case CacheOperator::kCg:
            case CacheOperator::kCv:
            case CacheOperator::kVolatile: return false;
            default: return true;
        }
    }

    base::L2Priority priority_of(const Access& access, uint64_t line) const {
        const uint64_t address = line * kLineBytes;
        if (access.policy) return access.policy.at(address);
        if (access.cache == CacheOperator::kCs) return base::L2Priority::kFirst;
        return address - shape.window.begin < shape.window.bytes ? shape.window.policy.at(address) : base::L2Priority::kUnchanged;
    }

    // --- the way of an access -------------------------------------------------------------------------------------------------

    Sm& sm_of(const Access& access) {
        Sm& sm = sms[access.sm % sms.size()];
        if (sm.launch != launch) {
            sm.launch = launch;
            sm.l1.reset(l1_lines, gpu.l1_ways);
            sm.pending.assign(size_t(parameters.l1_pending_lines), double(origin));
            sm.pipe_seen = sm.pipe_free = sm.return_free = sm.constants_free = double(origin);
            sm.stores.reset(double(origin));
            sm.constants.reset(gpu.constant_cache_bytes, uint64_t(parameters.constant_uniform_bytes), uint64_t(parameters.constant_next_bytes));
            sm.busy = {};
        }
        return sm;
    }
    uint32_t group_of(uint32_t sm) const { return clusters[sm % clusters.size()]; }
    uint32_t side_of(uint32_t group) const { return group * l2->partitions() / groups; }

    /// The load/store unit and the tag stage take one line (or pass) a cycle; returns when this access leaves it.
    uint64_t start(Sm& sm, const Access& access, double cycles) {
        const double now = double(origin + access.time);
        depart(now);
        l2->pass(now - 2 * kOutOfOrderCycles);
        // Warps come out of order: who is early in time waits as long as who came last.
        sm.pipe_seen = std::max(sm.pipe_seen, now);
        sm.pipe_free = std::max(sm.pipe_free, sm.pipe_seen) + cycles;
        sm.busy.l1 += cycles;
        const uint64_t started = uint64_t(sm.pipe_free - (sm.pipe_seen - now));
        last = std::max(last, started);
        return started;
    }

    bool is_host(uint64_t address) const {
        if (host.empty()) return false;
        auto range = host.upper_bound(address);
        return range != host.begin() && address < std::prev(range)->second;
    }
    double over_link(uint32_t bytes, uint64_t now) {
        link_free = std::max(link_free, double(now)) + bytes * link_cycles_per_byte;
        link_busy += bytes * link_cycles_per_byte;
        return link_free - double(now);
    }

    /// What happens to a line that leaves an SM.
    auto leave(Sm& sm) {
        return [this, side = side_of(group_of(uint32_t(&sm - sms.data())))](const StorePath::Packet& packet, double now) {
            const uint32_t sectors = packet.bytes.sectors();
            if (!is_host(packet.line * kLineBytes)) return l2->write(packet.line, packet.bytes, sectors, side, packet.site, uint64_t(now), packet.priority);
            sites[packet.site].link_write_bytes += kSectorBytes * count(sectors);
            return over_link(kSectorBytes * count(sectors), uint64_t(now));
        };
    }

    /// Sectors that L1 does not have: through the coalescer to L2. Returns when they are back.
    uint64_t fetch(Sm& sm, const Access& access, uint64_t line, uint32_t sectors, uint64_t now) {
        Counters& c = sites[access.site];
        const uint32_t group = group_of(access.sm);
        sm.stores.flush(line, double(now), leave(sm));
        const double behind = std::max(0.0, sm.stores.free_at() - double(now));   // stores that wait for the way out
        double ready = double(now) + l2_latency, beyond = 0;   // beyond L2: what a read takes at least
        if (is_host(line * kLineBytes)) {
            c.l2_reads += count(sectors);
            c.link_read_bytes += kSectorBytes * count(sectors);
            ready += l2_latency + over_link(kSectorBytes * count(sectors), now);
        } else {
            const std::optional<uint64_t> merged = window ? window->join(line, sectors, group, now) : std::nullopt;
            if (merged) {
                ready = std::max(ready, double(*merged));
            } else {
                const L2Cache::Reply reply = l2->read(line, sectors, side_of(group), access.site, now, priority_of(access, line));
                c.l2_reads += count(sectors);
                c.l2_read_hits += count(reply.hits);
                ready += reply.wait;
                if (reply.hits != sectors) beyond = dram_beyond;
                const double open = ready - double(now) - reply.turn - parameters.coalescer_distance_cycles;
                if (window && open > 0) window->sent(line, sectors, group, now, uint32_t(open), uint64_t(ready));
            }
        }
        if (!sm.pending.empty()) {
            double& place = sm.pending[sm.oldest_pending];
            ready = place = std::max(ready, place + l2_latency + beyond) + behind;
            sm.oldest_pending = uint32_t((sm.oldest_pending + 1) % sm.pending.size());
        }
        // The way back carries what is there first: nothing waits behind data that comes late.
        sm.return_free = std::max(sm.return_free, double(now) + l2_latency) + kSectorBytes * count(sectors) / kBytesPerCycle;
        return uint64_t(std::max(ready, sm.return_free) + (sm.pending.empty() ? behind : 0));
    }

    /// Loads of a footprint's parts, or of a texture's; returns when the last is there.
    uint64_t load(Sm& sm, const Access& access, Counters& c, const LinePart* parts, uint32_t n, bool through_l1, uint64_t now) {
        uint64_t done = now + uint64_t(l1_latency);
        const uint32_t group = group_of(access.sm), side = side_of(group);
        if (through_l1)
            for (uint32_t i = 0; i < n; ++i) sm.l1.prefetch(parts[i].line);
        for (uint32_t i = 0; i < n; ++i) {
            if (i + 2 < n) {                                // the caches of the model are larger than those of the host
                l2->prefetch_read(parts[i + 2].line, side);
                if (window) window->prefetch(parts[i + 2].line, parts[i + 2].bytes.sectors(), group);
            }
            uint32_t missing = parts[i].bytes.sectors();
            if (through_l1) {
                const L1Cache::Lookup found = sm.l1.load(parts[i].line, whole_lines ? kWholeLine : parts[i].bytes, access.l1 != Eviction::kNoAllocate);
                c.l1_hits += count(found.hits & missing);
                missing = found.misses;
                if (found.hits) done = std::max(done, found.ready);
                if (missing) {
                    const uint64_t back = fetch(sm, access, parts[i].line, missing, now);
                    if (found.slot != L1Cache::kNone) sm.l1.filled(found.slot, back);
                    done = std::max(done, back);
                }
            } else {
                done = std::max(done, fetch(sm, access, parts[i].line, missing, now));
            }
        }
        last = std::max(last, done);
        return done;
    }

    /// Into L2's home of each line: no data comes to the SM, nor to its partition (an H200's loads after it find the half whose home is theirs).
    void prefetch(Sm& sm, const Access& access, uint64_t now) {
        for (uint32_t i = 0; i < footprint.lines; ++i) {
            const LinePart& part = footprint.parts[i];
            sm.stores.flush(part.line, double(now), leave(sm));
            if (!is_host(part.line * kLineBytes)) l2->prefetch(part.line, part.bytes.sectors(), access.site, now, priority_of(access, part.line));
        }
    }

    /// Time passes: stores leave.
    void depart(double until) {
        const auto sent = [&](uint32_t site, uint32_t sectors) {
            sites[site].l2_writes += sectors;
            sites[site].l2_write_hits += sectors;
        };
        while (!departures.empty() && departures.top().first <= until) {
            const auto [now, index] = departures.top();
            departures.pop();
            Sm& sm = sms[index];
            sm.stores.advance(now, sent, leave(sm));
            if (!sm.stores.empty()) {
                if (const uint64_t* line = sm.stores.first()) l2->prefetch_write(*line);
                departures.push({sm.stores.next(), index});
            }
            last = std::max(last, uint64_t(sm.stores.taken_at() + l2_latency));   // when it is acknowledged
        }
    }

    /// Returns when the warp can go on: once the stores before this one have left.
    uint64_t store(Sm& sm, const Access& access, bool keep, uint64_t now) {
        const double go_on = std::max(sm.stores.free_at(), double(now));
        if (keep) {
            for (uint32_t i = 0; i < footprint.lines; ++i) sm.l1.prefetch(footprint.parts[i].line);
            for (uint32_t i = 0; i < footprint.lines; ++i) sm.l1.store(footprint.parts[i].line, footprint.parts[i].bytes, access.l1 != Eviction::kNoAllocate);
        }
        const bool scheduled = !sm.stores.empty();
        sm.stores.add(access.warp_slot, double(origin + access.time), double(now), footprint.parts.data(), footprint.lines, access.site,
                      [&](uint64_t line) { return priority_of(access, line); });
        if (!scheduled) departures.push({sm.stores.next(), uint32_t(&sm - sms.data())});
        last = std::max(last, uint64_t(sm.stores.taken_at() + l2_latency));
        return uint64_t(go_on);
    }

    /// Returns when the results are there; for reductions, when the warp can go on.
    uint64_t update(Sm& sm, const Access& access, Counters& c, uint32_t sectors, uint64_t now) {
        const uint32_t side = side_of(group_of(access.sm));
        const double start = std::max(sm.stores.free_at(), double(now));
        double ready = start + l2_latency;
        for (uint32_t i = 0; i < footprint.lines; ++i) {
            const LinePart& part = footprint.parts[i];
            sm.l1.invalidate(part.line, part.bytes.sectors());
            sm.stores.flush(part.line, double(now), leave(sm));
            if (is_host(part.line * kLineBytes)) {
                c.link_read_bytes += kSectorBytes * count(part.bytes.sectors());
                c.link_write_bytes += kSectorBytes * count(part.bytes.sectors());
                ready = std::max(ready, double(now) + 2 * l2_latency + over_link(2 * kSectorBytes * count(part.bytes.sectors()), now));
            } else {
                const L2Cache::Reply reply = l2->update(part.line, part.bytes, atomic_sent[i], side, access.site, now, priority_of(access, part.line));
                ready = std::max(ready, double(now) + l2_latency + reply.wait);
                sm.stores.block(double(now) + reply.wait);
            }
        }
        (access.operation == Operation::kAtomic ? c.l2_atomics : c.l2_reductions) += sectors;
        last = std::max(last, uint64_t(ready));
        return uint64_t(access.operation == Operation::kAtomic ? ready : start);
    }

    // --- spaces ---------------------------------------------------------------------------------------------------------------

    /// Cycles of the tag and data stages: a line a cycle of each four neighbouring ones. Each such group of lines is read in the passes that
    /// its words' banks need, or all together in those of the whole access.
    double l1_cycles(const Access& access, const uint64_t* addresses) const {
        if (copy_passes > 0) return copy_passes;
        uint32_t lines[4] = {}, deepest = 1, depth[kLanes];
        for (uint32_t i = 0; i < footprint.lines; ++i) {
            depth[i] = lines[footprint.parts[i].line % 4]++;
            deepest = std::max(deepest, depth[i] + 1);
        }
        const uint32_t packed = (footprint.unique_bytes + kLineBytes - 1) / kLineBytes;
        if (footprint.unique_bytes >= footprint.lines * kLineBytes || footprint.lines == 1) return std::max(deepest, packed);
        if (deepest == 1 || access.bytes > 4 || access.operation == Operation::kStore)
            return std::max({deepest, packed, shared_wavefronts(addresses, access.active, access.bytes).actual});
        uint32_t members[kLanes] = {}, cycles = 0;
        for (uint32_t rest = access.active; rest != 0; rest &= rest - 1) {
            const uint32_t lane = uint32_t(std::countr_zero(rest));
            uint32_t i = 0;
            while (footprint.parts[i].line != addresses[lane] / kLineBytes) ++i;
            members[depth[i]] |= 1u << lane;
        }
        for (uint32_t i = 0; i < deepest; ++i) cycles += shared_wavefronts(addresses, members[i], access.bytes).actual;
        return cycles;
    }

    /// The footprint, counted already, goes through the caches.
    uint32_t memory(const Access& access, const uint64_t* addresses, Counters& c, bool through_l1, uint32_t atomic) {
        if (settings.counts_only) return 0;
        Sm& sm = sm_of(access);
        const double cycles = atomic ? atomic * parameters.l1_atomic_cycles : l1_cycles(access, addresses);
        const uint64_t now = start(sm, access, cycles);
        uint64_t done = now;
        switch (access.operation) {
            case Operation::kLoad:
            case Operation::kAsyncCopy: done = load(sm, access, c, footprint.parts.data(), footprint.lines, through_l1, now); break;
            case Operation::kPrefetch:
                if (through_l1) load(sm, access, c, footprint.parts.data(), footprint.lines, true, now);
                else prefetch(sm, access, now);
                break;
            case Operation::kStore: done = store(sm, access, true, now - uint64_t(cycles)); break;
            case Operation::kReduction:
            case Operation::kAtomic: done = update(sm, access, c, atomic, now); break;
        }
        return uint32_t(std::min<uint64_t>(done - (origin + access.time), ~0u));
    }

    /// The copy engine moves whole sectors between L2 and shared memory (or brings them into L2): no request, no tag, no L1.
    uint32_t bulk(const Access& access, Counters& c) {
        coalesce(access.addresses, access.active, access.bytes, footprint);
        c.requested_bytes += footprint.requested_bytes;
        c.unique_bytes += footprint.unique_bytes;
        if (settings.counts_only) return 0;
        Sm& sm = sm_of(access);
        const uint64_t now = origin + access.time;
        depart(double(now));
        l2->pass(double(now) - 2 * kOutOfOrderCycles);
        if (access.operation == Operation::kPrefetch) {     // requests of L2 without sectors (texture_probes.cu, bulk_prefetch)
            prefetch(sm, access, now);
            return 0;
        }
        const uint64_t done = access.operation == Operation::kStore ? store(sm, access, false, now)
                                                                     : load(sm, access, c, footprint.parts.data(), footprint.lines, false, now);
        return uint32_t(std::min<uint64_t>(done - now, ~0u));
    }

    /// cp.async: what its way into shared memory makes of the footprint.
    void copy_to_shared(const Access& access, Counters& c) {
        const bool past_l1 = access.cache == CacheOperator::kCg && access.bytes == 16;
        const uint32_t touched = footprint.sectors;
        const Wavefronts waves = past_l1 ? split_past_l1(access.addresses, access.destinations, access.active, footprint)
                                         : copy_wavefronts(access.addresses, access.destinations, access.active, access.bytes);
        c.sectors = c.sectors + footprint.sectors - touched;
        c.wavefronts += waves.actual;
        c.ideal_wavefronts += waves.ideal;
        if (!past_l1) copy_passes = waves.actual;           // past L1 takes none of the data stage's
    }

    uint32_t global(const Access& access, Counters& c) {
        const uint32_t active = access.uniform_reduction ? access.active & -access.active : access.active;
        coalesce(access.addresses, active, access.bytes, footprint);
        count_footprint(c);
        copy_passes = 0;
        if (access.destinations != nullptr) copy_to_shared(access, c);
        const bool through_l1 = !is_atomic(access.operation) && access.operation != Operation::kStore && loads_through_l1(access);
        if (gpu.coalescing == gpu::Coalescing::kKepler) count_transactions(c, through_l1);
        uint32_t atomic = 0;
        if (is_atomic(access.operation)) {
            atomic = atomic_sectors(access.addresses, active, footprint, access.compare_and_swap, atomic_sent);
            c.sectors += atomic - footprint.sectors;
            c.repeated_sectors += atomic - footprint.sectors;
        }
        return memory(access, access.addresses, c, through_l1, atomic);
    }

    /// Thread-local memory is interleaved by lane in 4-byte words: word w of lane l lies at (32 w + l) × 4 of the warp's share.
    uint32_t local(const Access& access, Counters& c) {
        const uint64_t words_per_thread = (shape.local_bytes_per_thread + kStackBytes + 3) / 4;
        const uint64_t warp = uint64_t(access.sm) * std::max(1u, gpu.max_warps_per_sm) + access.warp_slot;
        const uint64_t base = kLocalWindow + warp * words_per_thread * kLineBytes;
        const uint32_t words = std::max(1u, access.bytes / 4u);
        uint64_t addresses[kLanes];
        uint32_t delay = 0;
        for (uint32_t k = 0; k < words; ++k) {
            for (uint32_t lane = 0; lane < kLanes; ++lane)
                addresses[lane] = base + ((access.addresses[lane] / 4 + k) * kLanes + lane) * 4 + access.addresses[lane] % 4;
            coalesce(addresses, access.active, std::min<uint32_t>(access.bytes, 4), footprint);
            count_footprint(c);
            delay = std::max(delay, memory(access, addresses, c, loads_through_l1(access), 0));
        }
        c.requests -= words - 1;
        return delay;
    }

    uint32_t shared(const Access& access, Counters& c) {
        const Wavefronts waves = shared_wavefronts(access.addresses, access.active, access.bytes, sharing_of(access), gpu.shared_banks, gpu.shared_bank_bytes);
        c.requests += 1;
        if (!access.remote) {                               // an H200's counters leave those out, whichever SM's
            c.wavefronts += waves.actual;
            c.ideal_wavefronts += waves.ideal;
        }
        c.requested_bytes += uint64_t(lanes(access.active)) * access.bytes;
        if (settings.counts_only) return 0;
        Sm& sm = sm_of(access);
        const uint64_t wait = start(sm, access, waves.actual) - (origin + access.time);
        sm.busy.shared += waves.actual;
        return uint32_t(access.operation == Operation::kStore ? wait - waves.actual : wait + uint64_t(shared_latency));
    }

    uint32_t constant(const Access& access, Counters& c) {
        const uint32_t words = distinct_words(access.addresses, access.active, access.bytes);
        c.requests += 1;
        c.constant_words += words;
        c.requested_bytes += uint64_t(lanes(access.active)) * access.bytes;
        if (settings.counts_only) return 0;
        // Words one after the other; the way to the next cache is taken once an access. Lines from L2 do not hold up others.
        Sm& sm = sm_of(access);
        const double now = double(origin + access.time), served = std::max(sm.constants_free, now);
        const ConstantCache::Misses misses =
            access.constant_path == ConstantPath::kUniform
                ? sm.constants.load_uniform(access.addresses[std::countr_zero(access.active)], access.warp_slot, served, constant_fetch)
                : sm.constants.load(access.addresses, access.active, access.bytes, served, constant_fetch);
        const double cycles = (access.constant_path == ConstantPath::kOperand ? 0 : words * parameters.constant_word_cycles) +
                              (misses.first ? parameters.constant_miss_cycles : 0);
        sm.constants_free = served + cycles;
        sm.busy.constant += cycles;
        if (access.constant_path == ConstantPath::kOperand && misses.first == 0 && misses.ready <= now) return 0;
        return uint32_t(std::max(sm.constants_free, misses.ready) - now + shared_latency);
    }

    uint32_t texture(const Access& access, Counters& c) {
        const bool linear = access.texels == nullptr;       // tex1Dfetch
        const uint32_t per_lane = linear ? 1 : access.texels_per_lane, group = access.space == Space::kSurface || (linear && access.texel_bytes <= 8) ? 8 : 4;
        split_quads(linear ? access.addresses : access.texels, per_lane, access.active, access.texel_bytes, quads, group);
        c.requests += quads.requests;
        c.tags += quads.count;
        c.sectors += quads.sectors;
        c.requested_bytes += uint64_t(lanes(access.active)) * access.bytes * per_lane;
        for (uint32_t i = 0; i < quads.count; ++i) c.unique_bytes += quads.parts[i].bytes.count();
        if (settings.counts_only) return 0;
        Sm& sm = sm_of(access);
        const uint64_t now = start(sm, access, quads.count);
        uint64_t done = now;
        if (access.operation == Operation::kLoad) {
            done = load(sm, access, c, quads.parts.data(), quads.count, true, now);
        } else {
            coalesce(access.addresses, access.active, access.bytes, footprint);
            for (uint32_t i = 0; i < footprint.lines; ++i) atomic_sent[i] = count(footprint.parts[i].bytes.sectors());
            if (is_atomic(access.operation)) {
                done = update(sm, access, c, footprint.sectors, now);
                return uint32_t(std::min<uint64_t>(done - (origin + access.time), ~0u));
            }
            // A sector that is written counts as a hit if anything has made L1 allocate its line (H200, texture_probes.cu).
            for (uint32_t i = 0; i < quads.count; ++i) {
                if (sm.l1.holds(quads.parts[i].line)) c.l1_hits += count(quads.parts[i].bytes.sectors());
                sm.l1.store(quads.parts[i].line, quads.parts[i].bytes);
            }
            done = store(sm, access, false, now - quads.count);
        }
        return uint32_t(std::min<uint64_t>(done - (origin + access.time), ~0u));
    }

    /// What copies touched last is in L2.
    void copied(uint64_t address, uint64_t bytes, void (L2Cache::*touched)(uint64_t, uint64_t, bool), bool over_link) {
        if (!l2 || settings.cold || bytes == 0 || is_host(address)) return;
        const uint64_t end = (address + bytes + kLineBytes - 1) / kLineBytes;
        const uint64_t first = std::max(address / kLineBytes, end > l2->lines() ? end - l2->lines() : 0);
        for (uint64_t line = first; line < end; ++line) ((*l2).*touched)(line, last, over_link);
    }

    void begin_launch(const LaunchShape& wanted) {
        shape = wanted;
        sites.assign(shape.sites, {});
        unattributed = {};
        if (settings.counts_only) return;
        ++launch;
        origin = last + kBetweenLaunches;
        last = origin;
        const uint64_t shared = shape.blocks_per_sm * (shape.shared_bytes_per_block + gpu.reserved_shared_per_block);
        const uint64_t bytes = shape.l1_bytes ? shape.l1_bytes : gpu.l1_cache_bytes(2 * shared);
        l1_lines = uint32_t(std::max<uint64_t>(1, bytes / kLineBytes));
        if (settings.cold) l2->flush();
        l2->begin_launch(sites, &unattributed);
        link_busy = 0;
        before = l2->work();
    }
};

Model::Model(const gpu::Description& gpu, const Settings& settings) : impl_(std::make_unique<Impl>(gpu, settings)) {}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

void Model::begin_launch(const LaunchShape& shape) { impl_->begin_launch(shape); }

uint32_t Model::access(const Access& access) {
    Counters& c = impl_->sites[access.site];
    if (access.bulk) {
        c.instructions += !access.continued;
        c.threads += !access.continued;
        return impl_->bulk(access, c);
    }
    c.instructions += 1;
    c.threads += lanes(access.active);
    switch (access.space) {
        case Space::kGlobal: return impl_->global(access, c);
        case Space::kShared: return impl_->shared(access, c);
        case Space::kLocal: return impl_->local(access, c);
        case Space::kConst:
        case Space::kParam: return impl_->constant(access, c);
        case Space::kTexture:
        case Space::kSurface: return impl_->texture(access, c);
    }
    return 0;
}

void Model::evict_normally(uint64_t address) {
    if (impl_->l2) impl_->l2->evict_normally(address / kLineBytes);
}

void Model::discard(uint64_t address, uint32_t sm, uint64_t time) {
    if (!impl_->l2) return;
    const uint64_t line = address / kLineBytes;
    Impl::Sm& from = impl_->sm_of({.sm = sm});
    from.stores.flush(line, double(impl_->origin + time), impl_->leave(from));
    impl_->l2->discard(line);
}

uint64_t Model::end_launch() {
    if (!impl_->l2) return 0;
    impl_->depart(std::numeric_limits<double>::infinity());
    impl_->l2->end_launch(impl_->last + uint64_t(impl_->parameters.dram_drain_ns * impl_->gpu.clock_mhz / 1000));
    return impl_->last - impl_->origin;
}

Busy Model::busy() const {
    Busy out;
    if (!impl_->l2) return out;
    for (const Impl::Sm& sm : impl_->sms) {
        if (sm.launch != impl_->launch) continue;
        out.l1 += sm.busy.l1;
        out.shared += sm.busy.shared;
        out.constant += sm.busy.constant;
    }
    const L2Cache::Work done = impl_->l2->work(), before = impl_->before;
    out.l2 = done.busy_cycles - before.busy_cycles;
    out.l2_atomics = done.atomic_cycles;
    out.l2_sectors = done.sectors - before.sectors;
    out.dram = done.dram_cycles - before.dram_cycles;
    out.link = impl_->link_busy;
    return out;
}

std::span<const Counters> Model::sites() const { return impl_->sites; }
const Counters& Model::unattributed() const { return impl_->unattributed; }

void Model::copied_to(uint64_t address, uint64_t bytes, bool over_link) { impl_->copied(address, bytes, &L2Cache::copied_to, over_link); }

void Model::copied_from(uint64_t address, uint64_t bytes, bool over_link) { impl_->copied(address, bytes, &L2Cache::copied_from, over_link); }

void Model::set_persisting(uint64_t bytes) {
    if (impl_->l2) impl_->l2->set_persisting(bytes);
}

uint64_t Model::persisting() const { return impl_->l2 ? impl_->l2->persisting() : 0; }

void Model::reset_persisting() {
    if (impl_->l2) impl_->l2->reset_persisting();
}

void Model::map(uint64_t address, uint64_t bytes, Backing backing) {
    if (backing == Backing::kHost) impl_->host[address] = address + bytes;
    else impl_->host.erase(address);
}

void Model::unmap(uint64_t address, uint64_t) { impl_->host.erase(address); }

}  // namespace lanescope::memory
