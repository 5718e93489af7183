#include "ptx/lookup.h"

#include <charconv>

namespace lanescope::ptx {
namespace {

template <class Things>
auto find_by_name(const Things& things, std::string_view name) -> decltype(things.data()) {
    for (const auto& thing : things)
        if (thing.name == name) return &thing;
    return nullptr;
}

}  // namespace

const Function* find_function(const Module& module, std::string_view name) { return find_by_name(module.functions, name); }
const Variable* find_variable(const Module& module, std::string_view name) { return find_by_name(module.variables, name); }

std::vector<SourceFrame> source_frames(const Module& module, uint32_t location) {
    std::vector<SourceFrame> frames;
    for (; location < module.locations.size(); location = module.locations[location].inlined_at) {
        const Location& at = module.locations[location];
        frames.push_back({at.file < module.files.size() ? module.files[at.file] : std::string(), at.line, at.column, at.function});
    }
    return frames;
}

unsigned destination_count(const Instruction& instruction) {
    switch (instruction.opcode) {
        case Opcode::kBar:
        case Opcode::kBarrier:
            return instruction.has(Suffix::kRed) ? 1 : 0;
        case Opcode::kCall:
            return 1;
        case Opcode::kMbarrierArrive:
        case Opcode::kMbarrierArriveDrop:
            // The forms for another block's mbarrier may leave the state out.
            return !instruction.operands.empty() && instruction.operands[0].kind != Operand::Kind::kAddress ? 1 : 0;
        default:
            return destinations_of(instruction.opcode);
    }
}

std::optional<uint64_t> used_bytes(const Function& function, uint32_t instruction) {
    constexpr std::string_view kPragma = "used_bytes_mask ";
    for (const Pragma& pragma : function.pragmas) {
        if (pragma.position != instruction || !pragma.text.starts_with(kPragma)) continue;
        uint64_t mask = 0;
        const char* const end = pragma.text.data() + pragma.text.size();
        if (std::from_chars(pragma.text.data() + kPragma.size(), end, mask).ptr == end) return mask;
    }
    return std::nullopt;
}

}  // namespace lanescope::ptx
