// From an instruction to what selects its arithmetic, and from there to the best version of it that this machine runs.
#include <algorithm>

#include "exec/lane_form.h"
#include "exec/lane_video.h"

namespace lanescope::exec {

#ifdef LANESCOPE_WITH_V3
namespace v3 {
LaneFunction find_at_level(const Form& form);
}
#endif

namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Suffix;
using ptx::Type;

/// They stand together in the table, with `vote` among them, which is no arithmetic.
bool is_video(Opcode opcode) { return opcode >= Opcode::kVabsdiff && opcode <= Opcode::kVsub4; }

/// Puts one suffix into the form; false: it says something that no arithmetic here knows.
bool add_suffix(Form& form, Suffix suffix) {
    const bool compares = form.opcode == Opcode::kSetp || form.opcode == Opcode::kSet;
    const bool video = is_video(form.opcode);
    const auto modifier = [&](Modifier bit) { form.modifiers |= bit; return true; };
    const auto rounding = [&](Rounding value) { form.rounding = value; return true; };
    const auto compare = [&](Compare value) { form.compare = value; return true; };
    const auto boolean = [&](Boolean value) { form.boolean = value; return true; };
    const auto float_class = [&](FloatClass value) { form.float_class = value; return true; };
    const auto permute = [&](PermuteMode value) { form.permute = value; return true; };
    switch (suffix) {
        case Suffix::kFtz: return modifier(kFtz);
        case Suffix::kSat: return modifier(kSat);
        case Suffix::kSatfinite: return modifier(kSatfinite);
        case Suffix::kRelu: return modifier(kRelu);
        case Suffix::kApprox: return modifier(kApprox);
        case Suffix::kFull: return modifier(kFull);
        case Suffix::kHi: return compares ? compare(Compare::kGt) : modifier(kHi);
        case Suffix::kLo: return compares ? compare(Compare::kLt) : modifier(kLo);
        case Suffix::kWide: return modifier(kWide);
        case Suffix::kCc: return modifier(kCc);
        case Suffix::kOob: return modifier(kOob);
        case Suffix::kNaN: return modifier(kPropagateNan);
        case Suffix::kXorsign: return modifier(kXorsign);
        case Suffix::kAbs: return modifier(kAbsolute);
        case Suffix::kShiftamt: return modifier(kShiftAmount);
        case Suffix::kClamp: return modifier(kClamp);
        case Suffix::kWrap: return modifier(kWrap);
        case Suffix::kL: return modifier(kLeft);
        case Suffix::kR: return modifier(kRight);
        case Suffix::kPo: return modifier(kPlusOne);
        case Suffix::kShr7: return modifier(kShr7);
        case Suffix::kShr15: return modifier(kShr15);
        case Suffix::kNoftz: return modifier(kNoftz);
        case Suffix::kScaledN2Ue8m0: return modifier(kScaled);
        case Suffix::kAdd: return video && modifier(kThenAdd);
        case Suffix::kMin: return video && modifier(kThenMin);
        case Suffix::kMax: return video && modifier(kThenMax);
        case Suffix::kRn: return rounding(Rounding::kRn);
        case Suffix::kRna: return rounding(Rounding::kRna);
        case Suffix::kRz: return rounding(Rounding::kRz);
        case Suffix::kRm: return rounding(Rounding::kRm);
        case Suffix::kRp: return rounding(Rounding::kRp);
        case Suffix::kRs: return rounding(Rounding::kRs);
        case Suffix::kRni: return rounding(Rounding::kRni);
        case Suffix::kRzi: return rounding(Rounding::kRzi);
        case Suffix::kRmi: return rounding(Rounding::kRmi);
        case Suffix::kRpi: return rounding(Rounding::kRpi);
        case Suffix::kEq: return compare(Compare::kEq);
        case Suffix::kNe: return compare(Compare::kNe);
        case Suffix::kLt: return compare(Compare::kLt);
        case Suffix::kLe:
        case Suffix::kLs: return compare(Compare::kLe);
        case Suffix::kGt: return compare(Compare::kGt);
        case Suffix::kGe:
        case Suffix::kHs: return compare(Compare::kGe);
        case Suffix::kEqu: return compare(Compare::kEqu);
        case Suffix::kNeu: return compare(Compare::kNeu);
        case Suffix::kLtu: return compare(Compare::kLtu);
        case Suffix::kLeu: return compare(Compare::kLeu);
        case Suffix::kGtu: return compare(Compare::kGtu);
        case Suffix::kGeu: return compare(Compare::kGeu);
        case Suffix::kNum: return compare(Compare::kNum);
        case Suffix::kNan: return compare(Compare::kNan);
        case Suffix::kAnd: return boolean(Boolean::kAnd);
        case Suffix::kOr: return boolean(Boolean::kOr);
        case Suffix::kXor: return boolean(Boolean::kXor);
        case Suffix::kFinite: return float_class(FloatClass::kFinite);
        case Suffix::kInfinite: return float_class(FloatClass::kInfinite);
        case Suffix::kNumber: return float_class(FloatClass::kNumber);
        case Suffix::kNotanumber: return float_class(FloatClass::kNotanumber);
        case Suffix::kNormal: return float_class(FloatClass::kNormal);
        case Suffix::kSubnormal: return float_class(FloatClass::kSubnormal);
        case Suffix::kF4e: return permute(PermuteMode::kF4e);
        case Suffix::kB4e: return permute(PermuteMode::kB4e);
        case Suffix::kRc8: return permute(PermuteMode::kRc8);
        case Suffix::kEcl: return permute(PermuteMode::kEcl);
        case Suffix::kEcr: return permute(PermuteMode::kEcr);
        case Suffix::kRc16: return permute(PermuteMode::kRc16);
        default: return ptx::type_of(suffix) != Type::kNone;
    }
}

bool is_aggregate(const Operand& operand) { return operand.kind == Operand::Kind::kVector || operand.kind == Operand::Kind::kPair; }
size_t rows_of(const Operand& operand) { return is_aggregate(operand) ? operand.elements.size() : 1; }

/// Bits of an operand's row: a register's own, else what the instruction type says.
uint8_t row_bits(const Operand& operand, Type type, std::span<const ptx::Register> registers) {
    const Operand& first = is_aggregate(operand) && !operand.elements.empty() ? operand.elements[0] : operand;
    const bool known = first.kind == Operand::Kind::kRegister && first.index < registers.size();
    return static_cast<uint8_t>(std::max(16u, ptx::bits(known ? registers[first.index].type : type)));
}

uint32_t truth_of(Type type) {
    switch (type) {
        case Type::kF32: return 0x3f800000;
        case Type::kF16: return 0x3c00;
        case Type::kF16x2: return 0x3c003c00;
        case Type::kBf16: return 0x3f80;
        case Type::kBf16x2: return 0x3f803f80;
        default: return UINT32_MAX;
    }
}

uint64_t control_of(const Form& form, const Instruction& instruction) {
    switch (form.opcode) {
        case Opcode::kSetp: return uint64_t(form.boolean) | (form.negated & 4u);
        case Opcode::kSet: return uint64_t(form.boolean) | (form.negated & 4u) | uint64_t(truth_of(form.type)) << 32;
        case Opcode::kAdd: case Opcode::kAddc:
        case Opcode::kSub: case Opcode::kSubc:
        case Opcode::kMad: case Opcode::kMadc: return form.has(kCc);
        case Opcode::kAnd: case Opcode::kOr: case Opcode::kXor: case Opcode::kNot:
        case Opcode::kMov: return form.negated;
        case Opcode::kCvt:
            return uint64_t(form.type) | uint64_t(form.type2) << 8 | uint64_t(form.rounding) << 16 | uint64_t(form.modifiers & 0xff) << 24 |
                   uint64_t(form.destination_bits) << 32 | uint64_t(form.source_bits) << 40;
        case Opcode::kLop3:
            return (uint64_t(instruction.operands[4].value) & 0xff) | (form.boolean == Boolean::kAnd ? 0x100 : 0) | (form.negated >> 4 & 1 ? 0x200 : 0);
        default: return is_video(form.opcode) ? video_control(form, instruction) : 0;
    }
}

/// False: not a form that arithmetic can have.
bool describe(const Instruction& instruction, std::span<const ptx::Register> registers, Form& form) {
    form.opcode = instruction.opcode;
    if (ptx::class_of(form.opcode) != ptx::OpcodeClass::kArithmetic || instruction.operands.size() < 2) return false;
    form.type = instruction.types[0];
    form.type2 = instruction.types[1];
    form.type3 = instruction.types[2];
    form.type4 = instruction.types[3];
    for (const Suffix suffix : instruction.suffixes)
        if (!add_suffix(form, suffix)) return false;
    const Type last = form.type2 == Type::kNone ? form.type : form.type2;
    form.destination_bits = row_bits(instruction.operands[0], form.type, registers);
    form.source_bits = row_bits(instruction.operands[1], last, registers);
    form.vector_source = instruction.operands[1].kind == Operand::Kind::kVector;
    form.destinations = static_cast<uint8_t>(rows_of(instruction.operands[0]));
    for (size_t i = 1; i < instruction.operands.size(); ++i) {
        const Operand& operand = instruction.operands[i];
        if (operand.negated) form.negated |= uint8_t(1u << form.sources);
        form.sources = static_cast<uint8_t>(form.sources + rows_of(operand));
    }
    if (form.destinations > 4 || form.sources > 7) return false;
    if (form.opcode == Opcode::kLop3 && (instruction.operands.size() < 5 || instruction.operands[4].kind != Operand::Kind::kImmediate)) return false;
    return true;
}

using Finder = LaneFunction (*)(const Form& form);

Finder best_finder() {
#ifdef LANESCOPE_WITH_V3
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c"))
        return v3::find_at_level;
#endif
    return find_at_level;
}

}  // namespace

LaneOperation find_lane_function(const Instruction& instruction, std::span<const ptx::Register> registers) {
    static const Finder finder = best_finder();
    Form form;
    if (!describe(instruction, registers, form)) return {};
    form.control = control_of(form, instruction);
    const bool carry = form.has(kCc) || form.opcode == Opcode::kAddc || form.opcode == Opcode::kSubc || form.opcode == Opcode::kMadc;
    return {finder(form), form.control, carry};
}

}  // namespace lanescope::exec
