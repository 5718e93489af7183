// What the executor tells its listeners about memory: one event for each hardware access of a warp.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/l2_policy.h"
#include "ptx/module.h"

namespace lanescope::exec {

constexpr unsigned kWarpLanes = 32;

struct Dim3 {
    uint32_t x = 1, y = 1, z = 1;
    uint64_t count() const { return uint64_t(x) * y * z; }
    friend bool operator==(const Dim3&, const Dim3&) = default;
};

/// Where an access goes after generic addresses are resolved.
enum class Space : uint8_t { kGlobal, kShared, kLocal, kConst, kParam, kTexture, kSurface };
/// kReduction: an atomic whose result is unused (machine code: RED). kAsyncCopy: global → shared (LDGSTS).
enum class Operation : uint8_t { kLoad, kStore, kReduction, kAtomic, kAsyncCopy, kPrefetch };
enum class CacheOperator : uint8_t { kDefault, kCa, kCg, kCs, kLu, kCv, kWb, kWt, kVolatile, kNonCoherent };
/// L1::… hints that change what it keeps.
enum class Eviction : uint8_t { kNormal, kNoAllocate, kFirst, kLast, kUnchanged };
/// What is said about lines of L2 without an access to them: applypriority.L2::evict_normal, discard.L2.
enum class Advice : uint8_t { kEvictNormal, kDiscard };

/// How a constant's load is made. kUniform: known to have one address for a warp, of a float (ULDC); kOperand: its address is known to the
/// compiler: an operand of the instruction that uses it, no load.
enum class ConstantPath : uint8_t { kLane, kUniform, kOperand };

/// One memory access of the machine code, as far as it is known before execution. A PTX instruction makes one or more
/// (a vector load of which only x and w are used is two 32-bit loads in machine code) or shares one with its neighbours
/// (adjacent shared accesses are merged into wider ones).
struct AccessSite {
    uint32_t instruction = 0;             ///< index into the function's body
    uint32_t function = 0;                ///< index into the module's functions
    uint32_t location = ptx::kNone;       ///< index into the module's locations
    Operation operation = Operation::kLoad;
    CacheOperator cache = CacheOperator::kDefault;
    Eviction l1 = Eviction::kNormal;
    base::L2Policy policy;                ///< of the instruction's own .L2::evict_…
    uint16_t prefetch_bytes = 0;          ///< L2::64B/128B/256B
    uint8_t bytes = 0;                    ///< per lane: 1, 2, 4, 8, 16 (32 on sm_100)
    bool bulk = false;                    ///< by the copy engine (cp.async.bulk): neither an LSU request nor through L1
    bool uniform_reduction = false;       ///< atomic whose lanes have one address and are combined first: one lane a warp issues it
    ConstantPath constant_path = ConstantPath::kLane;
    bool compare_and_swap = false;
    bool increment = false;               ///< shared atomic add of the constant 1 whose result is unused (machine code: ATOMS.POPC.INC)
};

/// One executed access of one warp. Valid only during the call.
struct AccessEvent {
    uint32_t site = 0;                    ///< index into Kernel::sites
    Space space = Space::kGlobal;
    uint32_t active = 0;                  ///< lanes that take part; never 0
    bool remote = false;                  ///< shared memory of another block of the cluster
    bool continued = false;               ///< AccessSite::bulk: not the first event of its copy (each is at most a warp's 32 × 16 bytes)
    uint32_t sm = 0;                      ///< SM of the GPU
    uint32_t warp_slot = 0;               ///< 0 … warps per SM - 1: the hardware warp
    uint32_t block_slot = 0;              ///< 0 … blocks per SM - 1
    uint64_t block = 0;                   ///< linear block index in the grid
    uint32_t warp = 0;                    ///< warp in the block
    uint64_t time = 0;                    ///< SM clock cycles since the kernel's start, see Machine
    base::L2Policy policy;                ///< L2::cache_hint: of the first lane that executes the instruction
    /// Global: device address. Shared: offset in the block's shared memory. Local: offset in the thread's local memory.
    /// Const: offset in the constant bank. Texture/surface: address of each lane's first texel byte (see texels). Active lanes only.
    const uint64_t* addresses = nullptr;
    const uint64_t* destinations = nullptr;   ///< kAsyncCopy, not bulk: offsets in shared memory that the lanes' bytes go to
    /// Texture: texels_per_lane addresses a lane (32 × texels_per_lane), filtered fetches have up to 8. nullptr: of linear memory.
    const uint64_t* texels = nullptr;
    uint32_t texels_per_lane = 0;
    uint8_t texel_bytes = 0;              ///< Texture, surface: of each
    const int32_t* texel_xyz = nullptr;   ///< Texture: 3 integer coordinates a lane of the first texel (x, y, z or layer)
};

/// Sees everything a running grid does to memory. Calls come in a reproducible order, from one thread.
class Listener {
public:
    virtual ~Listener() = default;
    /// Returns after how many SM cycles the result of a load or atomic can be used; of a store, after how many its warp can go on (0: at once).
    virtual uint32_t on_access(const AccessEvent& event) = 0;
    /// One lane speaks of the 128 bytes at a global address.
    virtual void on_advice(Advice /*advice*/, uint64_t /*address*/, uint32_t /*sm*/, uint64_t /*time*/) {}
    /// A warp reached a barrier of its block, a block started or ended: for race detection and for timing.
    virtual void on_barrier(uint64_t /*block*/, uint32_t /*barrier*/, uint64_t /*time*/) {}
    virtual void on_block_start(uint64_t /*block*/, uint32_t /*sm*/, uint32_t /*block_slot*/, uint64_t /*time*/) {}
    virtual void on_block_end(uint64_t /*block*/, uint32_t /*sm*/, uint32_t /*block_slot*/, uint64_t /*time*/) {}
};

/// Units that some instructions pass through and that take fewer than all schedulers can issue. kSequence: the schedulers themselves, of what
/// machine code makes of one instruction. kAlu: logic, shifts, comparisons, selections; kMultiply: products of integers; kConvert: integers to
/// single precision; kWide: conversions from and to 64 bits.
enum class Pipe : uint8_t { kNone, kFp32, kFp64, kSpecial, kSequence, kAlu, kMultiply, kConvert, kWide, kShuffle, kMatrix };
constexpr unsigned kPipes = 11;
constexpr unsigned kMatrixTurn = 512;  ///< multiply-adds of half precision that are one turn of kMatrix

/// What the executor must know of a GPU; the emulator fills it from a description and the kernel's occupancy.
struct Machine {
    uint32_t sms = 132;
    uint32_t resident_blocks = 8;         ///< of this launch, per SM
    uint32_t schedulers = 4;              ///< instructions issued a cycle per SM
    uint32_t clock_khz = 1980000;
    double blocks_launched_per_clock = 1; ///< the whole GPU starts at most this many blocks a cycle (H200: 0.84, measured), so a
                                          ///< freed slot may wait: the scheduler honours it, small blocks are bound by it
    uint32_t first_sm = 0;                ///< that gets a block, of a grid that does not fit at once; on hardware it differs from launch to launch
    std::vector<uint32_t> sm_rank;        ///< by SM: of `n` blocks, fewer than there are SMs, it gets one if this is less than `n`; empty: the first `n`
    uint32_t block_turnaround = 0;        ///< cycles from the end of a block to the first instruction of the one that takes its slot
    double warp_launch = 0;               ///< cycles from the start of one warp of a block to that of the next
    uint32_t compute_capability = 90;     ///< 10 × major + minor
    uint32_t shared_bytes_per_sm = 0;
    std::array<double, kPipes> pipe_cycles{};  ///< by Pipe: for which one warp instruction takes it up; an SM has one of each
    uint32_t global_latency = 600, shared_latency = 30, alu_latency = 4;  ///< cycles, where no listener says better
    uint64_t instruction_limit = 0;       ///< thread instructions after which a kernel is a runaway; 0: none
    double time_limit_s = 0;              ///< host seconds after which a kernel is a runaway; 0: none
};

}  // namespace lanescope::exec
