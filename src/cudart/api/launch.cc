// Kernel launches, attributes of functions, occupancy.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cudart/api/device.h"
#include "cudart/api/graph.h"
#include "gpu/clusters.h"

namespace lanescope::cudart {
namespace {

exec::Dim3 to_dim3(dim3 d) { return {d.x, d.y, d.z}; }

cudaError_t to_error(exec::FaultKind kind) {
    switch (kind) {
        case exec::FaultKind::kMisaligned: return cudaErrorMisalignedAddress;
        case exec::FaultKind::kUnsupported: return cudaErrorNotSupported;
        case exec::FaultKind::kIllegal: return cudaErrorIllegalInstruction;
        case exec::FaultKind::kRunaway: return cudaErrorLaunchTimeout;
        case exec::FaultKind::kAssert: return cudaErrorAssert;
        case exec::FaultKind::kStackOverflow: return cudaErrorHardwareStackError;
        case exec::FaultKind::kInvalidLaunch: return cudaErrorInvalidValue;
        case exec::FaultKind::kTrap:
        case exec::FaultKind::kBarrierDivergence:
        case exec::FaultKind::kInterrupted: return cudaErrorLaunchFailure;
        case exec::FaultKind::kOutOfBounds:
        case exec::FaultKind::kNull:
        case exec::FaultKind::kUseAfterFree:
        case exec::FaultKind::kWrongSpace:
        case exec::FaultKind::kReadOnly: return cudaErrorIllegalAddress;
    }
    return cudaErrorLaunchFailure;
}

/// Largest dynamic shared memory that a function may ask for, given what it has opted into.
size_t dynamic_shared_limit(const gpu::Description& gpu, const Function& function) {
    if (function.dynamic_shared_limit >= 0) return size_t(function.dynamic_shared_limit);
    size_t fixed = function.kernel->static_shared_bytes();
    return gpu.max_shared_per_block > fixed ? gpu.max_shared_per_block - fixed : 0;
}

/// The largest window; 0: the GPU takes windows without effect.
size_t widest_window(const gpu::Description& gpu) { return size_t(attribute(gpu, cudaDevAttrMaxAccessPolicyWindowSize).value_or(0)); }

memory::AccessWindow access_window(const gpu::Description& gpu, const cudaAccessPolicyWindow& window) {
    using base::L2Policy, base::L2Priority;
    if (widest_window(gpu) == 0) return {};
    const auto priority = [](cudaAccessProperty property) {
        return property == cudaAccessPropertyPersisting ? L2Priority::kLast : property == cudaAccessPropertyStreaming ? L2Priority::kFirst : L2Priority::kNormal;
    };
    // An H200 keeps 5 of 16 parts with a ratio of 0.25, 9 with 0.5.
    const unsigned parts = std::min(16u, unsigned(window.hitRatio * 16) + 1);
    return {reinterpret_cast<uintptr_t>(window.base_ptr), window.num_bytes, L2Policy::parts(priority(window.hitProp), priority(window.missProp), parts)};
}

size_t optin_limit(const gpu::Description& gpu) { return std::max(gpu.max_shared_per_block, gpu.max_shared_per_block_optin); }

}  // namespace

cudaAccessPolicyWindow& window_of(Runtime& runtime, cudaStream_t stream) {
    StreamState* state = runtime.stream_state(stream);
    return state ? state->window : runtime.default_window;
}

bool is_window(const gpu::Description& gpu, const cudaAccessPolicyWindow& window) {
    const size_t widest = widest_window(gpu);
    return (widest == 0 || window.num_bytes <= widest) && window.hitRatio >= 0 && window.hitRatio <= 1 && window.missProp != cudaAccessPropertyPersisting;
}

cudaError_t pack(Runtime& runtime, Function& function, const LaunchOptions& options, void** arguments, KernelCall& call) {
    if (cudaError_t error = runtime.load(function)) return error;
    const exec::Kernel& kernel = *function.kernel;
    call.function = &function;
    call.options = options;
    call.parameters.resize(kernel.parameter_bytes());
    call.pointers.clear();
    for (size_t i = 0; i < kernel.parameters().size(); ++i) {
        const exec::Parameter& parameter = kernel.parameters()[i];
        if (!arguments || !arguments[i]) return cudaErrorInvalidValue;
        std::memcpy(call.parameters.data() + parameter.offset, arguments[i], parameter.bytes);
        call.pointers.push_back(call.parameters.data() + parameter.offset);
    }
    return cudaSuccess;
}

cudaError_t launch(Runtime& runtime, emulator::Context& context, Function& function, const LaunchOptions& options, void** arguments) {
    KernelCall call;
    if (cudaError_t error = pack(runtime, function, options, arguments, call)) return error;
    if (!options.window) call.options.window = window_of(runtime, options.stream);
    if (runtime.captures)
        if (const std::optional<cudaError_t> done = captured(runtime, options.stream, call)) return *done;
    return launch(runtime, context, function, options, call.parameters);
}

cudaError_t launch(Runtime& runtime, emulator::Context& context, Function& function, const LaunchOptions& options, std::span<const std::byte> parameters) {
    if (cudaError_t error = runtime.load(function)) return error;
    const gpu::Description& gpu = context.gpu();
    const exec::Kernel& kernel = *function.kernel;
    emulator::LaunchRequest request;
    if (!resolve(runtime, options.stream, request.stream)) return cudaErrorInvalidResourceHandle;

    const dim3 &grid = options.grid, &block = options.block;
    uint64_t threads = to_dim3(block).count();
    emulator::KernelResources resources = context.resources(*function.binary->module, kernel);
    if (!threads || !to_dim3(grid).count() || threads > resources.max_threads || block.x > 1024 || block.y > 1024 || block.z > 64 || grid.x > INT32_MAX ||
        grid.y > 65535 || grid.z > 65535)
        return cudaErrorInvalidConfiguration;
    if (options.shared > dynamic_shared_limit(gpu, function) || options.shared + resources.static_shared_bytes > optin_limit(gpu)) return cudaErrorInvalidValue;

    exec::Dim3 cluster = options.cluster.x ? to_dim3(options.cluster) : exec::Dim3{};
    if (const auto& required = kernel.function().required_cluster; required[0]) cluster = {required[0], std::max(1u, required[1]), std::max(1u, required[2])};
    if (grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z) return cudaErrorInvalidClusterSize;

    emulator::Occupancy fit = context.occupancy_of(*function.binary->module, kernel, uint32_t(threads), options.shared, function.carveout_percent);
    if (fit.blocks_per_sm == 0) return cudaErrorLaunchOutOfResources;
    if (options.cooperative && to_dim3(grid).count() > uint64_t(fit.blocks_per_sm) * gpu.sms) return cudaErrorCooperativeLaunchTooLarge;

    request.module = function.binary->module;
    request.kernel = &kernel;
    request.grid = to_dim3(grid);
    request.block = to_dim3(block);
    request.cluster = cluster;
    request.dynamic_shared_bytes = uint32_t(options.shared);
    request.carveout_percent = function.carveout_percent;
    request.parameters = parameters;
    request.cooperative = options.cooperative;
    request.window = access_window(gpu, options.window ? *options.window : window_of(runtime, options.stream));
    emulator::LaunchResult result = context.launch(request);
    // As on hardware the launch itself succeeds; whoever waits for it, or calls next, is told.
    if (result.fault) {
        runtime.sticky = to_error(result.fault->kind);
        if (result.fault->kind == exec::FaultKind::kUnsupported) runtime.say_once(emulator::describe(request.module->ptx(), *result.fault));
    }
    return cudaSuccess;
}

}  // namespace lanescope::cudart

using namespace lanescope::cudart;
using lanescope::emulator::Context;

namespace {

/// `body(Runtime&, Context&, Function&)` with the function loaded.
template <class Body>
cudaError_t with_function(const void* host, Body&& body) {
    return call([&](Runtime& runtime, Context& context) {
        Function* function = runtime.function(host);
        if (!function) return cudaErrorInvalidDeviceFunction;
        if (cudaError_t error = runtime.load(*function)) return error;
        return body(runtime, context, *function);
    });
}

}  // namespace

LANESCOPE_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* host) {
    return with_function(host, [&](Runtime&, Context& context, Function& function) {
        if (!attributes) return cudaErrorInvalidValue;
        lanescope::emulator::KernelResources known = context.resources(*function.binary->module, *function.kernel);
        const lanescope::ptx::Module& module = function.binary->module->ptx();
        *attributes = {};
        attributes->sharedSizeBytes = known.static_shared_bytes;
        attributes->constSizeBytes = known.constant_bytes;
        attributes->localSizeBytes = known.local_bytes + known.spill_bytes.value_or(0);
        attributes->maxThreadsPerBlock = int(known.max_threads);
        attributes->numRegs = int(known.registers);
        attributes->ptxVersion = std::atoi(module.target.c_str() + std::min<size_t>(3, module.target.size()));   // "sm_75": 75
        attributes->binaryVersion = int(context.gpu().compute_capability);
        attributes->maxDynamicSharedSizeBytes = int(dynamic_shared_limit(context.gpu(), function));
        attributes->preferredShmemCarveout = function.carveout_percent;
        return cudaSuccess;
    });
}

LANESCOPE_API cudaError_t cudaFuncSetAttribute(const void* host, cudaFuncAttribute attribute, int value) {
    return with_function(host, [&](Runtime&, Context& context, Function& function) {
        switch (attribute) {
            case cudaFuncAttributeMaxDynamicSharedMemorySize:
                if (value < 0 || size_t(value) + function.kernel->static_shared_bytes() > optin_limit(context.gpu())) return cudaErrorInvalidValue;
                function.dynamic_shared_limit = value;
                return cudaSuccess;
            case cudaFuncAttributePreferredSharedMemoryCarveout:
                if (value < -1 || value > 100) return cudaErrorInvalidValue;
                function.carveout_percent = value;
                return cudaSuccess;
            case cudaFuncAttributeNonPortableClusterSizeAllowed: function.large_clusters = value != 0; return cudaSuccess;
            default: return cudaErrorInvalidValue;
        }
    });
}

LANESCOPE_API cudaError_t cudaFuncSetCacheConfig(const void* host, cudaFuncCache preference) {
    return with_function(host, [&](Runtime&, Context&, Function& function) {
        switch (preference) {
            case cudaFuncCachePreferNone: function.carveout_percent = -1; return cudaSuccess;
            case cudaFuncCachePreferShared: function.carveout_percent = 100; return cudaSuccess;
            case cudaFuncCachePreferL1: function.carveout_percent = 0; return cudaSuccess;
            case cudaFuncCachePreferEqual: function.carveout_percent = 50; return cudaSuccess;
        }
        return cudaErrorInvalidValue;
    });
}

LANESCOPE_API cudaError_t cudaFuncSetSharedMemConfig(const void* host, cudaSharedMemConfig) {
    return with_function(host, [](Runtime&, Context&, Function&) { return cudaSuccess; });
}

LANESCOPE_API cudaError_t cudaFuncGetName(const char** name, const void* host) {
    return with_function(host, [&](Runtime&, Context&, Function& function) {
        if (!name) return cudaErrorInvalidValue;
        *name = function.name.c_str();
        return cudaSuccess;
    });
}

LANESCOPE_API cudaError_t cudaFuncGetParamInfo(const void* host, size_t index, size_t* offset, size_t* bytes) {
    return with_function(host, [&](Runtime&, Context&, Function& function) {
        if (!offset || index >= function.kernel->parameters().size()) return cudaErrorInvalidValue;
        *offset = function.kernel->parameters()[index].offset;
        if (bytes) *bytes = function.kernel->parameters()[index].bytes;
        return cudaSuccess;
    });
}

LANESCOPE_API cudaError_t cudaGetFuncBySymbol(cudaFunction_t* out, const void* host) {
    return with_function(host, [&](Runtime&, Context&, Function& function) {
        *out = reinterpret_cast<cudaFunction_t>(&function);
        return cudaSuccess;
    });
}

LANESCOPE_API cudaError_t cudaGetKernel(cudaKernel_t* out, const void* host) {
    return with_function(host, [&](Runtime&, Context&, Function& function) {
        *out = reinterpret_cast<cudaKernel_t>(&function);
        return cudaSuccess;
    });
}

LANESCOPE_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* host, int threads, size_t shared, unsigned) {
    return with_function(host, [&](Runtime&, Context& context, Function& function) {
        if (!blocks || threads <= 0) return cudaErrorInvalidValue;
        *blocks = 0;
        if (uint32_t(threads) > context.resources(*function.binary->module, *function.kernel).max_threads) return cudaSuccess;
        if (shared > dynamic_shared_limit(context.gpu(), function)) return cudaSuccess;
        // The most that is possible: with as much shared memory as the GPU can configure.
        *blocks = int(context.occupancy_of(*function.binary->module, *function.kernel, uint32_t(threads), shared, 100).blocks_per_sm);
        return cudaSuccess;
    });
}

LANESCOPE_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host, int threads, size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, shared, 0);
}

namespace {

constexpr uint32_t kPortableClusterBlocks = 8, kLargestClusterBlocks = 16;

/// How many clusters of `blocks` blocks can run at once: those of a cluster share a graphics processing cluster.
uint32_t resident_clusters(const lanescope::gpu::Description& gpu, uint32_t blocks_per_sm, uint32_t blocks) {
    const std::vector<uint32_t> of_sm = lanescope::gpu::clusters(gpu).of_sm;
    std::map<uint32_t, uint32_t> room;
    for (uint32_t cluster : of_sm) room[cluster] += blocks_per_sm;
    uint32_t fit = 0;
    for (const auto& [cluster, slots] : room) fit += slots / blocks;
    return fit;
}

/// `body(gpu, blocks that fit an SM)` of a launch.
template <class Body>
cudaError_t with_launch(const void* host, const cudaLaunchConfig_t* config, Body&& body) {
    return with_function(host, [&](Runtime&, Context& context, Function& function) {
        if (!config) return cudaErrorInvalidValue;
        if (context.gpu().compute_capability < 90) return cudaErrorNotSupported;
        const uint64_t threads = to_dim3(config->blockDim).count();
        const bool possible = threads != 0 && threads <= context.resources(*function.binary->module, *function.kernel).max_threads &&
            config->dynamicSmemBytes <= dynamic_shared_limit(context.gpu(), function);
        return body(context.gpu(), possible ? context.occupancy_of(*function.binary->module, *function.kernel, uint32_t(threads), config->dynamicSmemBytes, 100).blocks_per_sm : 0,
                    function);
    });
}

}  // namespace

LANESCOPE_API cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* host, const cudaLaunchConfig_t* config) {
    return with_launch(host, config, [&](const lanescope::gpu::Description& gpu, uint32_t blocks_per_sm, const Function& function) {
        if (!clusters) return cudaErrorInvalidValue;
        const auto& required = function.kernel->function().required_cluster;
        uint64_t blocks = uint64_t(std::max(1u, required[0])) * std::max(1u, required[1]) * std::max(1u, required[2]);
        for (unsigned i = 0; i < config->numAttrs; ++i)
            if (const cudaLaunchAttribute& each = config->attrs[i]; each.id == cudaLaunchAttributeClusterDimension)
                blocks = uint64_t(each.val.clusterDim.x) * each.val.clusterDim.y * each.val.clusterDim.z;
        if (blocks == 0 || blocks > kLargestClusterBlocks) return cudaErrorInvalidClusterSize;
        *clusters = int(resident_clusters(gpu, blocks_per_sm, uint32_t(blocks)));
        return cudaSuccess;
    });
}

LANESCOPE_API cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* host, const cudaLaunchConfig_t* config) {
    return with_launch(host, config, [&](const lanescope::gpu::Description& gpu, uint32_t blocks_per_sm, const Function& function) {
        if (!blocks) return cudaErrorInvalidValue;
        uint32_t most = function.large_clusters ? kLargestClusterBlocks : kPortableClusterBlocks;
        while (most > 1 && resident_clusters(gpu, blocks_per_sm, most) == 0) most /= 2;
        *blocks = int(most);
        return cudaSuccess;
    });
}

LANESCOPE_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* host, int blocks, int threads) {
    return with_function(host, [&](Runtime&, Context& context, Function& function) {
        if (!bytes || blocks <= 0 || threads <= 0) return cudaErrorInvalidValue;
        const lanescope::gpu::Description& gpu = context.gpu();
        uint64_t all = gpu.shared_carveouts.empty() ? gpu.max_shared_per_block : gpu.shared_carveouts.back();
        uint64_t each = all / uint64_t(blocks) / gpu.shared_allocation_unit * gpu.shared_allocation_unit;
        uint64_t taken = gpu.reserved_shared_per_block + function.kernel->static_shared_bytes();
        uint64_t most = each > taken ? each - taken : 0;
        *bytes = std::min<uint64_t>(most, optin_limit(gpu) - function.kernel->static_shared_bytes());
        return cudaSuccess;
    });
}
