#include "cudart/api/runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "cudart/api/graph.h"

namespace lanescope::cudart {
namespace {

/// Tells `lanescope run` that a program linked with libcudart_static.a is one that it can run.
__attribute__((section(".lanescope_runtime"), used)) const char kMarker[] = "lanescope";

std::vector<std::string> own_arguments() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> arguments;
    for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(argument);
    return arguments;
}

}  // namespace

Runtime::Runtime() = default;
Runtime::~Runtime() = default;

Runtime& Runtime::get() {
    static Runtime* runtime = new Runtime;   // never destroyed, see above
    return *runtime;
}

void Runtime::say_once(const std::string& text) {
    if (said_.insert(text).second) std::fprintf(stderr, "lanescope: %s\n", text.c_str());
}

emulator::Context* Runtime::context() {
    if (context_ || context_failed_) return context_.get();
    base::Result<emulator::Settings> settings = emulator::settings_from_environment([](const char* name) { return static_cast<const char*>(std::getenv(name)); });
    if (!settings) {
        context_failed_ = true;
        say_once(base::to_string(settings.errors()));
        return nullptr;
    }
    base::Result<std::unique_ptr<emulator::Context>> made = emulator::Context::create(*settings, own_arguments());
    if (!made) {
        context_failed_ = true;
        say_once(base::to_string(made.errors()));
        return nullptr;
    }
    context_ = *std::move(made);
    context_->report = [this](const std::string& text) { say_once(text); };
    std::atexit([] {
        emulator::Context* context = get().existing_context();
        if (!context) return;
        context->settle_managed();
        if (context->settings().report_leaks) context->report_leaks();
    });
    return context_.get();
}

void Runtime::reset() {
    for (const std::unique_ptr<Binary>& binary : binaries_) {
        binary->module = nullptr;
        binary->failed.reset();
        for (Function* function : binary->functions) function->kernel = nullptr;
    }
    arrays.clear();
    events.clear();
    streams.clear();
    own_streams_.clear();
    textures.clear();
    mipmapped.clear();
    graphs.clear();
    executables.clear();
    clones.clear();
    captures = 0;
    host_flags.clear();
    sticky = cudaSuccess;
    if (!context_) return;
    if (base::Status done = context_->reset(); !done) {
        say_once(base::to_string(done.errors()));
        context_.reset();
        context_failed_ = true;
    }
}

Binary* Runtime::add_binary(const void* wrapper) {
    binaries_.push_back(std::make_unique<Binary>());
    binaries_.back()->wrapper = wrapper;
    return binaries_.back().get();
}

void Runtime::remove_binary(Binary* binary) {
    // Of a library that dlclose takes away: its functions must not be found under addresses that another library gets.
    if (!binary) return;
    binary->registered = false;
    for (auto each = functions_.begin(); each != functions_.end();) {
        if (each->second->binary != binary) {
            ++each;
            continue;
        }
        (void)each->second.release();         // kernel handles live for ever
        each = functions_.erase(each);
    }
    std::erase_if(variables_, [&](auto& each) { return each.second->binary == binary; });
}

void Runtime::add_function(Binary* binary, const void* host, const char* name) {
    auto function = std::make_unique<Function>();
    function->binary = binary;
    function->name = name;
    binary->functions.push_back(function.get());
    function_handles_.insert(function.get());
    functions_[host] = std::move(function);
}

void Runtime::add_variable(Binary* binary, const void* host, const char* name, size_t bytes, void** managed) {
    auto variable = std::make_unique<Variable>();
    *variable = {binary, name, bytes, managed};
    binary->variables.push_back(variable.get());
    variables_[host] = std::move(variable);
}

Function* Runtime::function(const void* host) {
    if (auto found = functions_.find(host); found != functions_.end()) return found->second.get();
    auto handle = function_handles_.find(static_cast<const Function*>(host));
    return handle == function_handles_.end() ? nullptr : const_cast<Function*>(*handle);
}

Variable* Runtime::variable(const void* host) {
    auto found = variables_.find(host);
    return found == variables_.end() ? nullptr : found->second.get();
}

cudaError_t Runtime::load(Binary& binary) {
    if (binary.module) return cudaSuccess;
    if (binary.failed) return *binary.failed;
    emulator::Context* gpu = context();
    if (!gpu) return cudaErrorInitializationError;
    auto refuse = [&](cudaError_t error, const std::string& why) {
        say_once(why);
        binary.failed = error;
        return error;
    };

    DeviceCode code = binary.brought ? *binary.brought : code_of_wrapper(binary.wrapper, gpu->gpu().compute_capability);
    if (code.error != cudaSuccess) return refuse(code.error, code.problem);
    base::Result<emulator::Module*> module = gpu->load(std::move(code.sources), std::move(code.cubin));
    if (!module) return refuse(cudaErrorInvalidPtx, base::to_string(module.errors()));
    binary.module = *module;
    for (Variable* variable : binary.variables) {
        if (!variable->managed) continue;
        if (std::optional<exec::Program::Symbol> symbol = binary.module->program().symbol(variable->name))
            *variable->managed = reinterpret_cast<void*>(symbol->address);
    }
    return cudaSuccess;
}

cudaError_t Runtime::load(Function& function) {
    if (function.kernel) return cudaSuccess;
    if (cudaError_t error = load(*function.binary)) return error;
    function.kernel = function.binary->module->program().kernel(function.name);
    if (function.kernel) return cudaSuccess;
    say_once(fmt::format("kernel {} is not in the program's PTX", base::printable(function.name)));
    return cudaErrorInvalidDeviceFunction;
}

Function* Runtime::function(Binary& binary, std::string_view name) {
    for (Function* function : binary.functions)
        if (function->name == name) return function;
    auto function = std::make_unique<Function>();
    function->binary = &binary;
    function->name = name;
    const bool known = load(binary) == cudaSuccess && binary.module->program().kernel(name);
    if (!known) return nullptr;
    binary.functions.push_back(function.get());
    function_handles_.insert(function.get());
    return function.release();               // kernel handles live for ever
}

bool Runtime::has(const Binary* binary) const {
    return std::any_of(binaries_.begin(), binaries_.end(), [&](auto& each) { return each.get() == binary && each->registered; });
}

cudaError_t Runtime::load_all() {
    for (const std::unique_ptr<Binary>& binary : binaries_)
        if (binary->registered && (!binary->functions.empty() || !binary->variables.empty()))
            if (cudaError_t error = load(*binary)) return error;
    return cudaSuccess;
}

namespace {
thread_local cudaError_t t_last_error = cudaSuccess;
}

cudaError_t record(cudaError_t error) {
    if (error != cudaSuccess && error != cudaErrorNotReady) t_last_error = error;
    return error;
}

cudaError_t last_error(bool take) {
    cudaError_t error = t_last_error;
    if (take) t_last_error = cudaSuccess;
    return error;
}

StreamState* Runtime::stream_state(cudaStream_t handle) {
    if (handle == cudaStreamPerThread || (handle == nullptr && per_thread_default)) {
        static std::atomic<uint64_t> threads{0};
        thread_local const uint64_t t_number = ++threads;   // thread ids are given again
        cudaStream_t& own = own_streams_[t_number];
        if (!own) {
            auto state = std::make_unique<StreamState>();
            state->id = context_->timeline().create(true);
            own = reinterpret_cast<cudaStream_t>(state.get());
            streams[own] = std::move(state);
        }
        handle = own;
    }
    const auto found = streams.find(handle);
    return found == streams.end() ? nullptr : found->second.get();
}

bool resolve(Runtime& runtime, cudaStream_t handle, emulator::Stream& stream) {
    const StreamState* state = runtime.stream_state(handle);
    if (!state && handle != nullptr && handle != cudaStreamLegacy) return false;
    stream = state ? state->id : emulator::kDefaultStream;
    return true;
}

}  // namespace lanescope::cudart
