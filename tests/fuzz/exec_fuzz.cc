// Any bytes as PTX that runs: what is read and can be loaded ends, with a fault or without, and touches nothing but its own memory.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "exec/grid.h"
#include "hazard/detector.h"
#include "ptx/parser.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace lanescope;
    auto module = ptx::parse({reinterpret_cast<const char*>(data), size}, "fuzz.ptx");
    if (!module.ok()) return 0;
    const auto memory = exec::DeviceMemory::create(uint64_t(64) << 20);
    if (!memory.ok()) std::abort();
    const auto program = exec::Program::load(std::make_shared<ptx::Module>(std::move(module).value()), **memory);
    if (!program.ok()) {
        if (base::to_string(program.errors()).empty()) std::abort();
        return 0;
    }
    const uint64_t buffer = (*memory)->allocate(4096)->begin;
    exec::DeviceHeap heap;
    exec::Textures textures;
    for (const ptx::Function& function : (*program)->module().functions) {
        const exec::Kernel* const kernel = function.entry && function.defined ? (*program)->kernel(function.name) : nullptr;
        if (kernel == nullptr || kernel->parameter_bytes() > 65536) continue;
        std::vector<std::byte> parameters(kernel->parameter_bytes());
        for (const exec::Parameter& each : kernel->parameters()) {
            const uint64_t value = each.bytes == 8 ? buffer : 16;
            std::memcpy(parameters.data() + each.offset, &value, std::min<size_t>(each.bytes, sizeof value));
        }
        hazard::Detector detector(true, true);
        detector.begin({kernel, {2}, {48}}, **memory, false, {});
        exec::Launch launch{.grid = {2}, .block = {48}, .parameters = parameters};
        exec::Machine machine{.sms = 2, .resident_blocks = 1, .instruction_limit = 20000, .time_limit_s = 1};
        exec::Sinks sinks;
        sinks.monitor = &detector;
        sinks.heap = &heap;
        sinks.textures = &textures;
        const exec::GridResult result = exec::run_grid(*kernel, launch, **memory, machine, nullptr, sinks);
        if (result.fault && result.fault->message.empty()) std::abort();
        detector.take_races();
        detector.take_undefined();
    }
    return 0;
}
