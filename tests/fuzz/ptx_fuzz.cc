// Any bytes as PTX: refused with a message, or read such that printing and reading again changes nothing. What is read is linked too.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ptx/link.h"
#include "ptx/lookup.h"
#include "ptx/parser.h"
#include "ptx/printer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace lanescope;
    const auto module = ptx::parse({reinterpret_cast<const char*>(data), size}, "fuzz.ptx");
    if (!module.ok()) {
        if (base::to_string(module.errors()).empty()) std::abort();
        return 0;
    }
    for (const ptx::Function& function : module->functions)
        for (const ptx::Instruction& instruction : function.body) {
            ptx::source_frames(*module, instruction.location);
            ptx::destination_count(instruction);
        }
    const std::string text = ptx::print(*module);
    const auto again = ptx::parse(text, "again.ptx");
    if (!again.ok() || ptx::print(*again) != text || again->locations != module->locations) std::abort();
    const auto linked = ptx::link({*module, *again});
    if (linked.ok() ? !ptx::parse(ptx::print(*linked), "linked.ptx").ok() : base::to_string(linked.errors()).empty()) std::abort();
    return 0;
}
