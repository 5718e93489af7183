// The memory system of one GPU: takes each warp's accesses in time order, tells what every level did and for which site.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/l2_policy.h"
#include "gpu/description.h"

namespace lanescope::memory {

enum class Space : uint8_t { kGlobal, kShared, kLocal, kConst, kParam, kTexture, kSurface };
enum class Operation : uint8_t { kLoad, kStore, kReduction, kAtomic, kAsyncCopy, kPrefetch };
enum class CacheOperator : uint8_t { kDefault, kCa, kCg, kCs, kLu, kCv, kWb, kWt, kVolatile, kNonCoherent };
enum class Eviction : uint8_t { kNormal, kNoAllocate, kFirst, kLast, kUnchanged };
enum class ConstantPath : uint8_t { kLane, kUniform, kOperand };

/// One executed access of one warp; the fields mean what exec::AccessEvent and exec::AccessSite say.
struct Access {
    uint32_t site = 0;
    Space space = Space::kGlobal;
    Operation operation = Operation::kLoad;
    CacheOperator cache = CacheOperator::kDefault;
    Eviction l1 = Eviction::kNormal;
    base::L2Policy policy;                ///< the instruction's, or that of its L2::cache_hint
    uint8_t bytes = 4;
    bool uniform_reduction = false;
    bool bulk = false;                    ///< by the copy engine: neither a request of the load/store unit nor through L1
    bool continued = false;               ///< bulk: a further part of a copy
    bool remote = false;                  ///< shared memory of another SM: no pass of this one's
    bool compare_and_swap = false;        ///< atomic
    bool increment = false;               ///< shared memory: adds the constant 1, result unused; lanes of one address go together
    ConstantPath constant_path = ConstantPath::kLane;
    uint16_t prefetch_bytes = 0;
    uint32_t active = 0;
    uint32_t sm = 0, warp_slot = 0, block_slot = 0;
    uint64_t time = 0;                    ///< SM cycles since the kernel's start
    const uint64_t* addresses = nullptr;  ///< 32
    const uint64_t* destinations = nullptr;   ///< asynchronous copies: 32 offsets in shared memory
    const uint64_t* texels = nullptr;     ///< 32 × texels_per_lane; nullptr: of linear memory
    uint32_t texels_per_lane = 0;
    uint8_t texel_bytes = 0;
    const int32_t* texel_xyz = nullptr;
};

/// What one site caused, summed over its executions. Counts; bytes where the name says so. Fills and write-backs count for the site
/// that wanted the data or wrote it, whoever drove it out.
struct Counters {
    uint64_t instructions = 0;            ///< warp-level executions with at least one active lane; bulk: copies
    uint64_t threads = 0;                 ///< active lanes summed; bulk: copies
    uint64_t requests = 0;                ///< t-stage requests (Kepler: warp requests)
    uint64_t tags = 0;                    ///< 128-byte line lookups
    uint64_t sectors = 0;                 ///< 32-byte sectors (Kepler: see transactions)
    uint64_t repeated_sectors = 0;        ///< of `sectors`, those that atomics send again, because not all lanes of one can go together
    uint64_t ideal_sectors = 0;           ///< what the same lanes would need if their bytes were packed
    uint64_t requested_bytes = 0;         ///< lanes × width
    uint64_t unique_bytes = 0;            ///< distinct bytes of each request
    uint64_t transactions = 0;            ///< Kepler only
    uint64_t transaction_bytes = 0;       ///< Kepler only
    uint64_t wavefronts = 0, ideal_wavefronts = 0;  ///< shared memory passes by pattern
    uint64_t constant_words = 0;          ///< distinct constant words over all requests
    uint64_t l1_hits = 0;                 ///< sectors; misses = sectors - hits
    uint64_t l2_reads = 0, l2_read_hits = 0, l2_writes = 0, l2_write_hits = 0, l2_atomics = 0, l2_reductions = 0;  ///< sectors
    uint64_t dram_read_bytes = 0, dram_write_bytes = 0;
    uint64_t link_read_bytes = 0, link_write_bytes = 0;   ///< over the host link, whole sectors
};

struct Settings {
    enum class L1 : uint8_t { kDefault, kOn, kOff } l1 = L1::kDefault;  ///< -dlcm=ca|cg
    bool cold = true;                     ///< flush all caches before each kernel, as ncu does
    bool counts_only = false;             ///< requests and sectors only: no caches
};

/// Accesses without a policy of their own have this one if they fall in there (cudaAccessPolicyWindow).
struct AccessWindow {
    uint64_t begin = 0, bytes = 0;
    base::L2Policy policy;
};

/// What the model must know of a launch.
struct LaunchShape {
    uint32_t sites = 0;
    uint32_t blocks_per_sm = 1, warps_per_block = 1;
    uint64_t shared_bytes_per_block = 0;
    uint64_t local_bytes_per_thread = 0;
    uint64_t l1_bytes = 0;                ///< what the shared memory of this launch leaves to L1 on each SM; 0: derived from the above
    AccessWindow window;
};

/// For how many SM cycles each unit was taken up since begin_launch; of a unit that each SM has, the sum over SMs.
struct Busy {
    double l1 = 0;                        ///< load/store unit and tag stage, shared memory's passes too
    double shared = 0;                    ///< of these, shared memory's
    double constant = 0;
    double l2 = 0;                        ///< all slices together
    double l2_atomics = 0;                ///< the slice with the most
    uint64_t l2_sectors = 0;              ///< through L2's tag stage, crossings between its partitions too
    double dram = 0;
    double link = 0;
};

enum class Backing : uint8_t { kDevice, kHost };

class Model {
public:
    Model(const gpu::Description& gpu, const Settings& settings);
    ~Model();
    Model(Model&&) noexcept;
    Model& operator=(Model&&) noexcept;

    void begin_launch(const LaunchShape& shape);
    /// Accounts for one access. Returns the SM cycles after which a load's or atomic's result can be used; of a store, until the
    /// warp can go on: what its SM stored before must have left.
    uint32_t access(const Access& access);
    /// An SM speaks of the line at an address, at a time of the launch: evict_last no longer holds for it; its data may be lost.
    void evict_normally(uint64_t address);
    void discard(uint64_t address, uint32_t sm, uint64_t time);
    /// Returns the SM cycles from the kernel's start until its last store was taken: the kernel ends no earlier.
    uint64_t end_launch();

    Busy busy() const;

    /// Per site of the launch since begin_launch.
    std::span<const Counters> sites() const;
    /// Traffic no site caused (write-back of earlier kernels' dirty lines in warm mode).
    const Counters& unattributed() const;

    /// What of L2 evict_last may keep from now on, in bytes (cudaLimitPersistingL2CacheSize); the default is the description's.
    void set_persisting(uint64_t bytes);
    uint64_t persisting() const;
    /// Nothing in L2 is evict_last any more (cudaCtxResetPersistingL2Cache).
    void reset_persisting();
    /// Device memory that copies or memsets wrote or read. Warm mode: what moves within the device is in L2 now, as if kernels had done it;
    /// what comes or goes over the link to the host stays as far as nothing else wants its place.
    void copied_to(uint64_t address, uint64_t bytes, bool over_link);
    void copied_from(uint64_t address, uint64_t bytes, bool over_link);
    /// Declares what lies behind a range of device addresses; default is device memory.
    void map(uint64_t address, uint64_t bytes, Backing backing);
    void unmap(uint64_t address, uint64_t bytes);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace lanescope::memory
