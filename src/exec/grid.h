// Runs a grid: the one entry point of the executor.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "exec/access.h"
#include "exec/device_memory.h"
#include "exec/fault.h"
#include "exec/monitor.h"
#include "exec/program.h"
#include "exec/texture.h"

namespace lanescope::exec {

struct Launch {
    Dim3 grid, block;
    Dim3 cluster{1, 1, 1};                          ///< blocks per cluster; grid must be a multiple
    uint32_t dynamic_shared_bytes = 0;
    std::span<const std::byte> parameters;          ///< Kernel::parameter_bytes(), laid out as Kernel::parameters() says
    uint64_t grid_id = 0;                           ///< %gridid
    uint64_t grid_workspace = 0;                    ///< %envreg1 and 2: where the blocks of a cooperative grid count at its barrier; 0: not one
    uint64_t stack_bytes = 64 << 10;                ///< local memory of a thread beyond the entry's own: calls and alloca
    bool count_instructions = false;                ///< fill GridResult::executions
};

/// The heap of device malloc, kept across kernels: its allocations are DeviceMemory's, of Region::kHeap.
struct DeviceHeap {
    uint64_t limit = 8 << 20;                       ///< cudaLimitMallocHeapSize
    uint64_t used = 0;                              ///< bytes
};

/// A kernel that a kernel launches (dynamic parallelism).
struct DeviceLaunch {
    uint32_t function = 0;                          ///< an entry of the same module
    Dim3 grid{0, 0, 0}, block{0, 0, 0};
    uint32_t dynamic_shared_bytes = 0;
    uint64_t parameters = 0;                        ///< device address: an allocation of its own, whoever runs the launch releases it
    bool tail = false;                              ///< in cudaStreamTailLaunch: behind everything else that the grid has launched
};

/// Those of one grid. What it launched may run once it has ended: nothing on the device can wait for it.
struct DeviceLaunches {
    std::map<uint64_t, DeviceLaunch> prepared;      ///< by the address of their parameters, which the kernel writes now
    std::vector<DeviceLaunch> launched;
    std::map<uint64_t, uint32_t> errors;            ///< by thread of the grid: what cudaGetLastError answers there
};

/// Bytes of a function's parameters, laid out as a kernel's are.
uint32_t parameter_bytes(const ptx::Function& function);

/// Where a grid's side effects outside device memory go. Called in a reproducible order, from the calling thread.
struct Sinks {
    std::function<void(std::string_view)> print;    ///< device printf, already formatted
    std::function<void(std::string_view)> error;    ///< the message of a failed device assert; without it: dropped
    const Textures* textures = nullptr;             ///< texture and surface objects by handle
    DeviceHeap* heap = nullptr;                     ///< without it device malloc returns null
    DeviceLaunches* launches = nullptr;             ///< without it a launch from the device is not supported
    const std::atomic<bool>* stop = nullptr;        ///< set by another thread or a signal handler: the grid ends with kInterrupted
    uint64_t start_ns = 0;                          ///< %globaltimer at the kernel's start
    Monitor* monitor = nullptr;
};

/// How often one PTX instruction ran.
struct Executions {
    uint32_t function = 0, instruction = 0;         ///< indices into the module and its body
    uint64_t warps = 0, threads = 0;
};

struct GridResult {
    uint64_t cycles = 0;                            ///< SM cycles from the start to the end of the last block
    uint64_t warp_instructions = 0, thread_instructions = 0;
    uint64_t issued = 0;                            ///< instructions of machine code, as far as one of PTX is at most one
    std::vector<uint64_t> sm_cycles;                ///< per SM: when its last block ended
    uint64_t active_cycles = 0;                     ///< in which an SM held a block, summed over SMs
    uint64_t warp_cycles = 0;                       ///< the same of warps
    std::vector<uint64_t> sm_instructions;          ///< per SM: warp instructions issued
    std::array<double, kPipes> pipe_cycles{};       ///< by Pipe: for which it was taken up, summed over SMs
    std::vector<Executions> executions;             ///< on demand; only instructions that ran
    std::optional<Fault> fault;                     ///< what ended the grid early; effects until then are kept
    std::vector<Fault> warnings;                    ///< did not end it; one for each kind and instruction
};

/// Deterministic: the same arguments and memory contents give the same result, events and output.
GridResult run_grid(const Kernel& kernel, const Launch& launch, DeviceMemory& memory, const Machine& machine, Listener* listener,
                    const Sinks& sinks);

}  // namespace lanescope::exec
