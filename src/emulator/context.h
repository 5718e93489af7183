// One emulated GPU in this process: modules, memory, launches and transfers, accounted for and written to the session's journal.
//
// The one place that wires exec (what a kernel does) to memory (what that costs), timing and profile. Not thread-safe: callers take turns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "emulator/cubin.h"
#include "emulator/journal.h"
#include "emulator/managed.h"
#include "emulator/occupancy.h"
#include "emulator/replay.h"
#include "emulator/settings.h"
#include "emulator/timeline.h"
#include "emulator/watch.h"
#include "exec/device_memory.h"
#include "exec/grid.h"
#include "exec/program.h"
#include "exec/texture.h"
#include "gpu/description.h"
#include "memory/model.h"
#include "timing/kernel_time.h"

namespace lanescope::emulator {

struct Source {
    std::string ptx, name;       ///< name: for messages
};

/// Device code of one program or library, loaded.
class Module {
public:
    exec::Program& program() { return *program_; }
    const ptx::Module& ptx() const { return program_->module(); }

private:
    friend class Context;
    std::unique_ptr<exec::Program> program_;
    std::vector<Source> sources_;
    std::string cubin_;                       ///< machine code for this GPU that came along; may be empty
    std::optional<ModuleFacts> facts_;        ///< read when first asked for
    std::string facts_from_;                  ///< what the registers were read from; empty: estimated
};

/// What does not change between launches of a kernel.
struct KernelResources {
    uint32_t registers = 0;
    bool registers_estimated = false;
    std::string registers_from;               ///< for notes: "the program's machine code", "ptxas for sm_90", "an estimate from live registers"
    uint64_t static_shared_bytes = 0;
    uint64_t local_bytes = 0;                 ///< a thread
    std::optional<uint64_t> spill_bytes;      ///< frame of the machine code beyond what the PTX asks for; nullopt: not known
    uint64_t constant_bytes = 0;
    uint32_t max_threads = 0;
};

struct LaunchRequest {
    Module* module = nullptr;
    const exec::Kernel* kernel = nullptr;
    exec::Dim3 grid, block, cluster;
    uint32_t dynamic_shared_bytes = 0;
    int carveout_percent = -1;
    std::span<const std::byte> parameters;    ///< laid out as Kernel::parameters() says
    Stream stream = kDefaultStream;
    bool cooperative = false;                 ///< its blocks may wait for each other
    const exec::Kernel* parent = nullptr;     ///< that launched it on the device
    memory::AccessWindow window;
};

class Accounting;

struct LaunchResult {
    std::optional<exec::Fault> fault;
    Timeline::Span time;
};

enum class Direction : uint8_t { kHostToDevice, kDeviceToHost, kDeviceToDevice, kHostToHost, kMemset };

class Context {
public:
    /// Loads the GPU that the settings name. `program`: its argv, for the journal.
    static base::Result<std::unique_ptr<Context>> create(const Settings& settings, std::vector<std::string> program);
    ~Context();

    const gpu::Description& gpu() const { return gpu_; }
    const Settings& settings() const { return settings_; }
    exec::DeviceMemory& memory() { return *memory_; }
    exec::Textures& textures() { return textures_; }
    Timeline& timeline() { return timeline_; }

    /// Parses, links and loads; the module lives until unload. `cubin`: machine code for this GPU, if the program brings some.
    base::Result<Module*> load(std::vector<Source> sources, std::string cubin = {});
    void unload(Module* module);

    KernelResources resources(Module& module, const exec::Kernel& kernel);
    Occupancy occupancy_of(Module& module, const exec::Kernel& kernel, uint32_t threads, uint64_t dynamic_shared_bytes, int carveout_percent);

    /// Runs a grid to its end and writes it to the journal. The request must fit the GPU (see occupancy_of).
    LaunchResult launch(const LaunchRequest& request);

    /// Accounts for a copy that the caller has done or is about to do. `memory`: what the host's side is (profile::Transfer::memory).
    /// Addresses of 0 are host memory.
    Timeline::Span transfer(Direction direction, const std::string& memory, uint64_t destination, uint64_t source, uint64_t bytes, Stream stream);

    /// Managed memory: advice, and a move ahead of its use. Both ranges must lie in one managed allocation.
    void advise(uint64_t begin, uint64_t bytes, Advice advice);
    RangeAdvice advice_of(uint64_t begin, uint64_t bytes) { return managed_.advice_of(begin, bytes); }
    Timeline::Span prefetch(uint64_t begin, uint64_t bytes, bool to_host, Stream stream);
    /// Accounts for what the host has done to managed memory until now; before such memory is freed and at the end of the process.
    void settle_managed();

    /// The host has read or written `bytes` of memory that the device sees, with the latest work of `stream`. `dense`: all of them.
    void touched(uint64_t address, uint64_t bytes, bool write, bool dense, Stream stream);
    /// Nothing has been written to a new allocation.
    void undefined(const exec::Allocation& allocation) { watch_.undefined(allocation); }

    /// Tells the cache model what lies behind new or ended host-visible allocations.
    void mapped(const exec::Allocation& allocation);
    void unmapped(const exec::Allocation& allocation);

    /// Releases every module, allocation, texture and stream; launches are numbered on.
    base::Status reset();

    /// Writes a warning for each allocation of the program that is still there; for the end of the process, when the settings ask for it.
    void report_leaks();

    void collect(bool on) { collecting_ = on; }     ///< cudaProfilerStart/Stop: launches and transfers outside are run, not written
    void set_heap_bytes(uint64_t bytes) { heap_.limit = bytes; }
    uint64_t heap_bytes() const { return heap_.limit; }
    void set_stack_bytes(uint64_t bytes) { stack_bytes_ = bytes; }
    uint64_t stack_bytes() const { return stack_bytes_; }
    /// What of L2 may be kept by evict_last: whole ways, as the model takes them.
    void set_persisting_bytes(uint64_t bytes);
    uint64_t persisting_bytes() const { return persisting_bytes_; }
    void reset_persisting() { model_.reset_persisting(); }
    /// Trouble with the journal, for the user.
    std::function<void(const std::string&)> report;

private:
    Context(Settings settings, gpu::Description gpu, std::unique_ptr<exec::DeviceMemory> memory, profile::Profile header);
    exec::Machine machine(const Occupancy& occupancy, uint64_t block_shared_bytes) const;
    struct Simulated {
        exec::GridResult result;
        Occupancy fit;
        timing::KernelWork work;
        double duration_ns = 0;
    };
    /// Runs the grid, with its accesses counted and timed where `accounting` is given; nothing is recorded. `more_shared_bytes`: what a changed program would take a block.
    Simulated simulate(const LaunchRequest& request, const KernelResources& known, Accounting* accounting, uint64_t more_shared_bytes, const exec::Sinks& sinks);
    /// The launch as it would be with a change: runs in a copy of this process.
    Outcome replay(const LaunchRequest& request, const KernelResources& known, const analysis::Candidate& change, const exec::Sinks& sinks);
    /// Tries what the record's patterns suggest. `seconds`: what emulating the launch took.
    void try_changes(Replay& copy, const LaunchRequest& request, const KernelResources& known, const Accounting& accounting, const Simulated& before, double seconds,
                     profile::Launch& record);
    /// Runs what the grid of `parent` has launched, and what that launches. The first fault ends it.
    std::optional<exec::Fault> run_children(const LaunchRequest& parent, exec::DeviceLaunches& launches);
    /// Whether this launch is one whose changes are worth trying: launches of one kernel and shape are, the first, second, fourth, …
    bool wants_replay(const LaunchRequest& request);
    /// Why no copy of the process is made for that; empty: one can be.
    std::string too_large_to_copy() const;
    const ModuleFacts& facts(Module& module);
    /// Managed memory before and after a kernel. The second returns how long the kernel waited for its pages, in ns.
    std::vector<AddressRange> prepare_managed(Stream stream);
    double finish_managed(const std::vector<AddressRange>& remote, profile::Launch& record, std::vector<profile::Transfer>& caused);
    /// What a kernel's accesses move over the link, as transfers within its time.
    void record_zero_copy(double duration_ns, std::vector<profile::Transfer>& caused) const;
    void record_transfer(profile::Transfer transfer, Stream stream, const Timeline::Span& span);
    void record_fault(const ptx::Module& module, const exec::Fault& fault, uint64_t launch, bool warning);
    void check_journal();

    Settings settings_;
    gpu::Description gpu_;
    std::unique_ptr<exec::DeviceMemory> memory_;
    memory::Model model_;
    ManagedMemory managed_;
    Journal journal_;
    Timeline timeline_;
    Watch watch_{settings_, timeline_};
    exec::Textures textures_;
    std::vector<std::unique_ptr<Module>> modules_;
    profile::LaunchSelector selector_;
    uint64_t launches_ = 0;
    std::map<const exec::Kernel*, uint32_t> examples_;  ///< how many launches of a kernel have had their example warps written
    struct Tried {
        uint64_t launches = 0;
        uint64_t instructions = 0;                ///< thread instructions of the largest launch that was tried
    };
    std::map<std::vector<uint64_t>, Tried> tried_;      ///< by kernel, grid, block and shared memory
    bool collecting_ = true;
    exec::DeviceHeap heap_;
    uint64_t grid_workspace_ = 0;
    uint64_t persisting_bytes_ = model_.persisting();
    uint64_t stack_bytes_ = 1024;
};

/// "thread (3, 0, 0) of block (0, 0, 0): store of ..."
std::string message_of(const exec::Fault& fault);
/// "file.cu:12: error: …" for a fault, with the chain of inlined calls.
std::string describe(const ptx::Module& module, const exec::Fault& fault);

}  // namespace lanescope::emulator
