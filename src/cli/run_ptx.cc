// A kernel of a PTX file on the emulated GPU, without a host program: for Triton, Numba and hand-written PTX. Runs in a process of its own,
// as any program does, so that whatever the kernel does to it the report is made.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "base/demangle.h"
#include "cli/commands.h"
#include "cli/ptx_arguments.h"
#include "emulator/accounting.h"
#include "emulator/context.h"
#include "ptx/lookup.h"

namespace lanescope::cli {
namespace {

base::Diagnostics error(const PtxOptions& options, std::string message) { return {base::error(std::move(message), {options.file, 0, 0})}; }

/// The only kernel, or the one that is named (mangled, or as people write it).
base::Result<const exec::Kernel*> find_kernel(const PtxOptions& options, emulator::Module& module) {
    std::vector<std::string> names;
    for (const ptx::Function& function : module.ptx().functions)
        if (function.entry && function.defined) names.push_back(function.name);
    if (options.kernel.empty() && names.size() == 1) return module.program().kernel(names[0]);
    for (const std::string& name : names)
        if (!options.kernel.empty() && (name == options.kernel || base::demangle(name).starts_with(options.kernel + "("))) return module.program().kernel(name);
    return error(options, names.empty() ? "has no kernel" : fmt::format("{}; --kernel takes one of {}", options.kernel.empty() ? "has several kernels" : "has no kernel '" + options.kernel + "'", fmt::join(names, ", ")));
}

base::Result<std::vector<std::byte>> parameters(const PtxOptions& options, const exec::Kernel& kernel, exec::DeviceMemory& memory) {
    if (options.arguments.size() != kernel.parameters().size()) {
        std::vector<std::string> wanted;
        for (const exec::Parameter& parameter : kernel.parameters()) wanted.push_back(fmt::format("{} ({} bytes)", parameter.name, parameter.bytes));
        return error(options, fmt::format("the kernel takes {} arguments, --arg gave {}: {}", wanted.size(), options.arguments.size(), fmt::join(wanted, ", ")));
    }
    std::vector<std::byte> out(kernel.parameter_bytes());
    for (size_t i = 0; i < options.arguments.size(); ++i) {
        const auto argument = parse_argument(options.arguments[i]);
        if (!argument.ok()) return argument.errors();
        std::vector<std::byte> value = argument->value;
        if (argument->is_buffer) {
            const exec::Allocation* buffer = memory.allocate(argument->buffer_bytes, exec::Region::kDevice, fmt::format("argument {}", i));
            if (buffer == nullptr) return error(options, fmt::format("argument {}: the GPU has no {} bytes of memory left", i, argument->buffer_bytes));
            fill(argument->fill, memory.host(buffer->begin, buffer->bytes), buffer->bytes);
            value.resize(sizeof buffer->begin);
            std::memcpy(value.data(), &buffer->begin, value.size());
        }
        const exec::Parameter& parameter = kernel.parameters()[i];
        if (value.size() != parameter.bytes) return error(options, fmt::format("argument {} ('{}') has {} bytes, the kernel's {} has {}", i, options.arguments[i], value.size(), parameter.name, parameter.bytes));
        std::memcpy(out.data() + parameter.offset, value.data(), value.size());
    }
    return out;
}

/// A fault at its place in the PTX text, with the thread, and the CUDA source lines that the PTX names for it as notes.
base::Diagnostics fault_in(const ptx::Module& module, const exec::Fault& fault, const std::string& file, std::string_view text) {
    base::Diagnostic diagnostic = base::error(emulator::message_of(fault), {file, 0, 0});
    if (fault.function != ptx::kNone && fault.instruction != ptx::kNone) {
        const ptx::Instruction& instruction = module.functions[fault.function].body[fault.instruction];
        diagnostic.place.line = instruction.line;
        diagnostic.place.column = instruction.column;
        for (uint32_t line = 1; line < instruction.line && !text.empty(); ++line) text.remove_prefix(std::min(text.find('\n') + 1, text.size()));
        diagnostic.source_line = text.substr(0, text.find('\n'));
    }
    base::Diagnostics all{std::move(diagnostic)};
    for (const ptx::SourceFrame& frame : ptx::source_frames(module, fault.location))
        all.push_back({base::Severity::kNote, {frame.file, frame.line, frame.column}, "the source of this instruction", {}});
    return all;
}

/// Whether the kernel ran to its end.
base::Result<bool> run_kernel(const PtxOptions& options) {
    const auto settings = emulator::settings_from_environment([](const char* name) -> const char* { return std::getenv(name); });
    if (!settings.ok()) return settings.errors();
    const auto grid = parse_dimensions(options.grid), block = parse_dimensions(options.block);
    if (!grid.ok()) return grid.errors();
    if (!block.ok()) return block.errors();
    const auto text = base::read_file(options.file);
    if (!text.ok()) return text.errors();
    auto context = emulator::Context::create(*settings, {options.file});
    if (!context.ok()) return context.errors();
    emulator::Context& gpu = **context;
    const auto module = gpu.load({{*text, options.file}});
    if (!module.ok()) return module.errors();
    const auto kernel = find_kernel(options, **module);
    if (!kernel.ok()) return kernel.errors();
    if (*kernel == nullptr) return error(options, "the kernel cannot be decoded");
    const auto bytes = parameters(options, **kernel, gpu.memory());
    if (!bytes.ok()) return bytes.errors();
    const exec::Dim3 g{(*grid)[0], (*grid)[1], (*grid)[2]}, b{(*block)[0], (*block)[1], (*block)[2]};
    if (b.count() > gpu.gpu().max_threads_per_block) return error(options, fmt::format("a block of {} threads: this GPU takes {}", b.count(), gpu.gpu().max_threads_per_block));
    if (gpu.occupancy_of(**module, **kernel, static_cast<uint32_t>(b.count()), options.shared_bytes, -1).blocks_per_sm == 0)
        return error(options, "not even one block fits on an SM: too many registers, threads or bytes of shared memory");
    emulator::LaunchRequest request;
    request.module = *module;
    request.kernel = *kernel;
    request.grid = g;
    request.block = b;
    request.dynamic_shared_bytes = options.shared_bytes;
    request.parameters = *bytes;
    const emulator::LaunchResult result = gpu.launch(request);
    if (result.fault) put(STDERR_FILENO, base::to_string(fault_in((*module)->ptx(), *result.fault, options.file, *text)) + "\n");
    return !result.fault;
}

}  // namespace

int run_ptx_here(const PtxOptions& options) {
    const auto ended = run_kernel(options);
    if (!ended.ok()) complain(ended.errors());
    return !ended.ok() ? kOwnFailure : *ended ? 0 : 1;
}

}  // namespace lanescope::cli
