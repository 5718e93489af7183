// The state behind the CUDA runtime's functions: one for the process, made on first use and never destroyed (programs call into the
// runtime from destructors of static objects and from exit handlers).
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cudart/api/code.h"
#include "emulator/context.h"

#define LANESCOPE_API extern "C" __attribute__((visibility("default")))
/// The entry point of programs compiled for per-thread default streams: see Runtime::per_thread_default.
#define LANESCOPE_ALIAS(name, alias_name) LANESCOPE_API decltype(name) alias_name __attribute__((alias(#name)))

namespace lanescope::cudart {

struct Binary;

/// A __global__ function. Its address is the cudaFunction_t, cudaKernel_t and what `&kernel` is registered under: handles live for ever.
struct Function {
    Binary* binary = nullptr;
    std::string name;                             ///< mangled
    int dynamic_shared_limit = -1;                ///< cudaFuncAttributeMaxDynamicSharedMemorySize; -1: not set
    int carveout_percent = -1;
    bool large_clusters = false;                  ///< cudaFuncAttributeNonPortableClusterSizeAllowed
    const exec::Kernel* kernel = nullptr;         ///< once loaded
};

struct Variable {
    Binary* binary = nullptr;
    std::string name;
    size_t bytes = 0;
    void** managed = nullptr;                     ///< the host's pointer to a __managed__ variable
};

/// One registered fat binary, or a library that the program loaded (cudaLibrary_t).
struct Binary {
    const void* wrapper = nullptr;
    std::optional<DeviceCode> brought;            ///< of a library
    std::vector<Function*> functions;
    std::vector<Variable*> variables;
    emulator::Module* module = nullptr;
    std::optional<cudaError_t> failed;            ///< why it cannot be loaded
    bool registered = true;
};

struct Array {
    cudaChannelFormatDesc format{};
    cudaExtent extent{};                          ///< in elements; 0 for dimensions it has not
    unsigned flags = 0;
    uint64_t address = 0;
    uint64_t row_bytes = 0, slice_bytes = 0;
    uint32_t element_bytes = 0;
    uint64_t rows() const { return extent.height ? extent.height : 1; }
    uint64_t slices() const { return extent.depth ? extent.depth : 1; }
};

/// Name of memory that graphs allocate: it stays until the program ends, as its addresses are fixed when the node is made and each launch
/// of the graph may use it again.
constexpr const char* kGraphMemory = "memory of a graph";

struct Capture;      // graph.h
struct Executable;
struct Graph;
struct Node;

struct Event {
    bool recorded = false, timing = true;
    emulator::Timeline::Moment moment;
    std::shared_ptr<Capture> capture;             ///< recorded in a capturing stream, behind these nodes
    std::vector<Node*> captured;
};

struct StreamState {
    emulator::Stream id = emulator::kDefaultStream;
    unsigned flags = 0;
    int priority = 0;
    cudaAccessPolicyWindow window{};
    std::shared_ptr<Capture> capture;             ///< that it takes part in
    std::vector<Node*> last;                      ///< what its next node comes after
};

struct TextureState {
    cudaResourceDesc resource{};
    cudaTextureDesc texture{};
    std::optional<cudaResourceViewDesc> view;
};

struct CallConfiguration {
    dim3 grid, block;
    size_t shared = 0;
    cudaStream_t stream = nullptr;
};

class Runtime {
public:
    Runtime();
    ~Runtime();
    static Runtime& get();

    std::recursive_mutex mutex;                   ///< held by every function: host callbacks may call back

    /// The GPU, made on first use. nullptr: it cannot be; the reason was said once.
    emulator::Context* context();
    emulator::Context* existing_context() { return context_.get(); }
    /// cudaDeviceReset: everything allocated or loaded is gone, what was registered stays and is loaded again on demand.
    void reset();

    // registration
    Binary* add_binary(const void* wrapper);
    void remove_binary(Binary* binary);
    void add_function(Binary* binary, const void* host, const char* name);
    void add_variable(Binary* binary, const void* host, const char* name, size_t bytes, void** managed);
    /// By the host's address of the stub, or by handle. nullptr: none.
    Function* function(const void* host);
    Variable* variable(const void* host);
    /// The kernel of this name, loaded; nullptr: there is none.
    Function* function(Binary& binary, std::string_view name);
    bool has(const Binary* binary) const;
    cudaError_t load(Binary& binary);
    cudaError_t load(Function& function);
    /// Loads every binary that is not: what makes __managed__ variables readable and symbols addressable.
    cudaError_t load_all();

    /// A failure that ends the process's use of the GPU, as on hardware: every later call answers it, until cudaDeviceReset.
    cudaError_t sticky = cudaSuccess;

    std::map<cudaArray_t, std::unique_ptr<Array>> arrays;
    std::map<cudaEvent_t, std::unique_ptr<Event>> events;
    std::map<cudaStream_t, std::unique_ptr<StreamState>> streams;
    std::map<uint64_t, TextureState> textures;    ///< by object; surfaces too
    std::map<cudaGraph_t, std::unique_ptr<Graph>> graphs;
    std::map<cudaGraphExec_t, std::unique_ptr<Executable>> executables;
    std::map<std::pair<cudaGraph_t, const Node*>, Node*> clones;   ///< of nodes of cloned graphs
    size_t captures = 0;                          ///< streams that capture
    std::map<uint64_t, unsigned> host_flags;      ///< of cudaHostAlloc and cudaHostRegister, by address
    std::map<cudaMipmappedArray_t, std::vector<cudaArray_t>> mipmapped;
    uint64_t next_object = 1;
    size_t printf_fifo_bytes = 1 << 20;
    unsigned device_flags = 0;
    cudaAccessPolicyWindow default_window{};      ///< of the legacy default stream

    /// What a handle stands for, cudaStreamPerThread's stream of this thread included; nullptr: the legacy default stream, or no stream.
    StreamState* stream_state(cudaStream_t handle);
    /// Set by entry points of programs compiled for per-thread default streams: 0 is this thread's own stream from now on.
    std::atomic<bool> per_thread_default{false};

    /// Says `text` on standard error, once for each different text.
    void say_once(const std::string& text);

private:
    std::unique_ptr<emulator::Context> context_;
    bool context_failed_ = false;
    std::vector<std::unique_ptr<Binary>> binaries_;
    std::unordered_map<const void*, std::unique_ptr<Function>> functions_;   ///< by host address
    std::set<const Function*> function_handles_;
    std::unordered_map<const void*, std::unique_ptr<Variable>> variables_;
    std::set<std::string> said_;
    std::map<uint64_t, cudaStream_t> own_streams_;       ///< cudaStreamPerThread of each thread that used it
};

/// What cudaGetExportTable answers to this id: whether the process has used the GPU, for our driver.
constexpr cudaUUID_t kRuntimeInUse = {{'l', 'a', 'n', 'e', 's', 'c', 'o', 'p', 'e', ' ', 'i', 'n', ' ', 'u', 's', 'e'}};
using InUse = bool();

/// Remembers a failure for cudaGetLastError and hands it on.
cudaError_t record(cudaError_t error);
cudaError_t last_error(bool take);

/// The body of a runtime function: takes the lock, makes the GPU, answers a sticky error, remembers what goes wrong.
/// `body(Runtime&, emulator::Context&)` → cudaError_t.
template <class Body>
cudaError_t call(Body&& body) {
    Runtime& runtime = Runtime::get();
    std::lock_guard lock(runtime.mutex);
    if (runtime.sticky != cudaSuccess) return record(runtime.sticky);
    emulator::Context* context = runtime.context();
    if (!context) return record(cudaErrorInitializationError);
    return record(body(runtime, *context));
}

/// A stream handle as programs pass it; false: no such stream.
bool resolve(Runtime& runtime, cudaStream_t handle, emulator::Stream& stream);

/// Runs a kernel: checks the configuration, packs the arguments, makes faults sticky.
struct LaunchOptions {
    dim3 grid, block;
    dim3 cluster{0, 0, 0};
    size_t shared = 0;
    cudaStream_t stream = nullptr;
    bool cooperative = false;
    std::optional<cudaAccessPolicyWindow> window; ///< none: the stream's
};
/// Where the window of a stream stands, the legacy default stream's too.
cudaAccessPolicyWindow& window_of(Runtime& runtime, cudaStream_t stream);
/// Whether a launch may have such a window.
bool is_window(const gpu::Description& gpu, const cudaAccessPolicyWindow& window);
cudaError_t launch(Runtime& runtime, emulator::Context& context, Function& function, const LaunchOptions& options, void** arguments);
/// The same with its arguments packed as Kernel::parameters() says.
cudaError_t launch(Runtime& runtime, emulator::Context& context, Function& function, const LaunchOptions& options, std::span<const std::byte> parameters);

}  // namespace lanescope::cudart
