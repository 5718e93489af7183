#include "exec/instruction_cost.h"

#include <algorithm>
#include <cstdio>
#include <string>

namespace lanescope::exec {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::OpcodeClass;
using ptx::Operand;
using ptx::Suffix;
using ptx::Type;

constexpr uint8_t kSfu = 17;              // latency of the special function unit
constexpr uint8_t kScaled = kSfu + 3 * 4; // the same with a comparison and two products around it, which keep denormal numbers

bool is_double(Type type) { return type == Type::kF64; }
bool is_half(Type type) { return type == Type::kF16 || type == Type::kF16x2 || type == Type::kBf16 || type == Type::kBf16x2; }
bool is_float(Type type) { return type == Type::kF32 || is_double(type) || is_half(type); }

Type last_type(const Instruction& instruction) {
    Type last = Type::kNone;
    for (const Type type : instruction.types)
        if (type != Type::kNone) last = type;
    return last;
}

InstructionCost conversion(Type to, Type from) {
    if (is_double(to) || is_double(from) || ((is_float(to) || is_float(from)) && (ptx::bits(to) == 64 || ptx::bits(from) == 64)))
        return {1, Pipe::kWide, 1, 18};
    if (is_half(to) || is_half(from)) return {1, Pipe::kAlu, 1, 5};
    if (is_float(to) && is_float(from)) return {1, Pipe::kSpecial, 1, 18};   // rounds to a whole number
    if (is_float(to)) return ptx::bits(from) < 32 ? InstructionCost{1, Pipe::kSpecial, 1, 18} : InstructionCost{1, Pipe::kConvert, 1, 5};
    if (is_float(from)) return {1, Pipe::kSpecial, 1, 18};
    if (ptx::bits(to) == 32 && ptx::bits(from) == 64) return {0, Pipe::kNone, 0, 0};   // the lower register
    return ptx::bits(from) < 32 || ptx::bits(to) < 32 ? InstructionCost{1, Pipe::kAlu, 1, 4} : InstructionCost{};
}

InstructionCost of_double(const Instruction& instruction) {
    switch (instruction.opcode) {
        case Opcode::kDiv: return {15, Pipe::kFp64, 8, 22 + 8 * 7};
        case Opcode::kSqrt: return {15, Pipe::kFp64, 8, 22 + 8 * 7};
        case Opcode::kRcp: return {9, Pipe::kFp64, 5, 22 + 8 * 4};
        case Opcode::kRsqrt: return {9, Pipe::kFp64, 5, 22 + 8 * 4};
        case Opcode::kMin:
        case Opcode::kMax: return {8, Pipe::kFp64, 1, 16};
        case Opcode::kSelp: return {2, Pipe::kAlu, 2, 4};
        case Opcode::kMov: return {};
        case Opcode::kNeg:
        case Opcode::kAbs: return {0, Pipe::kNone, 0, 0};   // modifiers of the operand
        default: return {1, Pipe::kFp64, 1, 8};
    }
}

InstructionCost of_single(const Instruction& instruction) {
    const bool ftz = instruction.has(Suffix::kFtz), rounded = instruction.has(Suffix::kRn);
    const InstructionCost special{uint8_t(ftz ? 1 : 4), Pipe::kSpecial, 1, ftz ? kSfu : kScaled};
    switch (instruction.opcode) {
        case Opcode::kAdd: case Opcode::kSub: case Opcode::kMul: case Opcode::kFma: case Opcode::kMad: return {1, Pipe::kFp32, 1, 4};
        case Opcode::kDiv: return {uint8_t(rounded ? 8 : 4), Pipe::kSpecial, 1, rounded ? uint8_t(36) : kScaled};
        case Opcode::kSqrt: case Opcode::kRcp: return rounded ? InstructionCost{8, Pipe::kSpecial, 1, 36} : special;
        case Opcode::kRsqrt: case Opcode::kEx2: case Opcode::kLg2: return special;
        case Opcode::kSin: case Opcode::kCos: return {2, Pipe::kSpecial, 1, 22};
        case Opcode::kTanh: return {1, Pipe::kSpecial, 1, kSfu};
        case Opcode::kNeg: case Opcode::kAbs: return {0, Pipe::kNone, 0, 0};
        case Opcode::kTestp: return {2, Pipe::kAlu, 2, 8};
        case Opcode::kMov: return {};
        default: return {1, Pipe::kAlu, 1, 4};   // minimum, maximum, comparison, selection, sign
    }
}

InstructionCost of_integer(const Instruction& instruction) {
    const Type type = last_type(instruction);
    const bool wide = ptx::bits(type) == 64;
    const uint8_t words = wide ? 2 : 1;
    switch (instruction.opcode) {
        case Opcode::kAdd: case Opcode::kSub: case Opcode::kAddc: case Opcode::kSubc: return {words, Pipe::kNone, 0, 4};   // either pipe takes them
        case Opcode::kMul: case Opcode::kMad: case Opcode::kMadc: case Opcode::kMul24: case Opcode::kMad24:
            if (wide) return instruction.has(Suffix::kHi) ? InstructionCost{7, Pipe::kMultiply, 8, 25} : InstructionCost{4, Pipe::kMultiply, 4, 17};
            if (instruction.has(Suffix::kHi)) return {1, Pipe::kMultiply, 2, 9};
            return {1, Pipe::kMultiply, uint8_t(instruction.has(Suffix::kWide) && ptx::bits(type) == 32 ? 2 : 1), 4};
        case Opcode::kDp4a: case Opcode::kDp2a: return {1, Pipe::kMultiply, 1, 4};
        case Opcode::kDiv: case Opcode::kRem:
            if (wide) return {1, Pipe::kSequence, 28, 36};   // of numbers that fit 32 bits
            return {1, Pipe::kSequence, uint8_t(type == Type::kS32 || type == Type::kS16 ? 22 : 16), 36};
        case Opcode::kPopc: return {uint8_t(wide ? 3 : 1), Pipe::kSpecial, words, kSfu};
        case Opcode::kClz: return {uint8_t(wide ? 3 : 2), Pipe::kSpecial, 1, 23};
        case Opcode::kBfind: case Opcode::kFns: return {1, Pipe::kSpecial, 1, 19};
        case Opcode::kBrev: return {words, Pipe::kSpecial, words, 19};
        case Opcode::kShl: case Opcode::kShr: return {words, Pipe::kAlu, words, uint8_t(4 * words)};
        case Opcode::kMin: case Opcode::kMax: return wide ? InstructionCost{4, Pipe::kAlu, 4, 12} : InstructionCost{1, Pipe::kAlu, 1, 4};
        case Opcode::kBfe: case Opcode::kBfi: case Opcode::kSet: case Opcode::kSlct: return {2, Pipe::kAlu, 2, 8};
        case Opcode::kSetp: return {words, Pipe::kAlu, words, uint8_t(4 * words)};
        case Opcode::kSelp: case Opcode::kAnd: case Opcode::kOr: case Opcode::kXor: case Opcode::kNot: return {words, Pipe::kAlu, words, 4};
        case Opcode::kMov: case Opcode::kCvta: return {};
        default: return {1, Pipe::kAlu, 1, 4};
    }
}

/// mma and wmma.mma: multiply-adds of half precision, of which 8-bit integers take half and tf32 twice the time. Latencies as chains of one
/// warp took on an H200 (2026-11-30, driver 580.159.04): 14, 18.5 and 26 cycles for 1, 2 and 4 turns, of doubles 26, 34 and 51 for 8, 16, 32.
InstructionCost of_matrix(const Instruction& instruction) {
    unsigned m = 0, n = 0, k = 0;
    for (const Suffix suffix : instruction.suffixes)
        if (const std::string text(ptx::to_string(suffix)); std::sscanf(text.c_str(), "m%un%uk%u", &m, &n, &k) == 3) break;
    const Type of_a = instruction.types[1];
    if (is_double(of_a)) return {1, Pipe::kFp64, uint8_t(std::min(31u, m * n * k / 32)), uint8_t(18 + m * n * k / 32)};
    const unsigned turns = (m * n * k * ptx::bits(of_a) / 16 + kMatrixTurn - 1) / kMatrixTurn;
    return {1, Pipe::kMatrix, uint8_t(std::min(31u, turns)), uint8_t(10 + 4 * turns)};
}

}  // namespace

InstructionCost cost_of(const Instruction& instruction) {
    switch (instruction.opcode) {
        case Opcode::kShfl: return {1, Pipe::kShuffle, 1, 26};
        case Opcode::kVote: return {1, Pipe::kAlu, 1, 13};
        case Opcode::kRedux: return {2, Pipe::kSpecial, 1, 44};
        case Opcode::kMma:
        case Opcode::kWmmaMma: return of_matrix(instruction);
        case Opcode::kMatch: return {1, Pipe::kNone, 0, 22};
        default: break;
    }
    if (ptx::class_of(instruction.opcode) != OpcodeClass::kArithmetic) return {};
    if (instruction.opcode == Opcode::kMov && instruction.operands.size() == 2 && instruction.operands[1].kind == Operand::Kind::kSpecial)
        return {1, Pipe::kNone, 0, 22};
    const Type type = last_type(instruction);
    if (instruction.opcode == Opcode::kCvt) return conversion(instruction.types[0], type);
    if (type == Type::kPred) return {0, Pipe::kNone, 0, 0};   // part of the comparison
    if (std::any_of(instruction.types.begin(), instruction.types.end(), is_double)) return of_double(instruction);
    if (is_half(type) || is_half(instruction.types[0])) {
        switch (instruction.opcode) {
            case Opcode::kAdd: case Opcode::kSub: case Opcode::kMul: case Opcode::kFma: return {1, Pipe::kFp32, 1, 8};
            case Opcode::kNeg: case Opcode::kAbs: return {0, Pipe::kNone, 0, 0};
            case Opcode::kTanh: case Opcode::kEx2: return {1, Pipe::kSpecial, 1, kSfu};
            case Opcode::kMov: return {};
            default: return {1, Pipe::kAlu, 1, 5};
        }
    }
    return type == Type::kF32 ? of_single(instruction) : of_integer(instruction);
}

}  // namespace lanescope::exec
