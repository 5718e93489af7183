#include "hardware/sass.h"

#include <algorithm>
#include <cstring>

namespace lanescope::hardware {

namespace {

// Where an instruction keeps the width of its access (bits counted from 0 within the 128).
enum class Width : uint8_t {
    kMemory,   ///< 73–75: u8 s8 u16 s16 32 64 128 bits
    kAtomic,   ///< 73–75: u32 s32 u64 f32 f16x2 s64 f64; from sm_90 on, where floats have opcodes of their own, u32 s32 u64 s64
    kFloat,    ///< 73–75: 7 is f64, the others are 32 bits
    kCompare,  ///< 74: 32 or 64 bits
    kCopy,     ///< 73–75 as kMemory; from sm_100 on 74–75: 4, 8 or 16 bytes
    kMatrix,   ///< 72–73: one, two or four 8×8 matrices of 16 bits: 4, 8 or 16 bytes a lane
    kNone,
};

struct Row {
    uint16_t opcode;  ///< bits 0–8; bits 9–11 tell the operands' forms apart
    std::string_view space, operation;
    Width width;
};

// Read off nvdisasm's output for sm_75, sm_80, sm_90 and sm_120 (the instructions of sass_test.cc).
constexpr Row kRows[] = {
    {0x03b, "shared", "load", Width::kMatrix},        // LDSM
    {0x044, "shared", "store", Width::kMatrix},       // STSM
    {0x160, "texture", "load", Width::kNone},         // TEX
    {0x161, "texture", "load", Width::kNone},         // TEX with bindless operands
    {0x163, "texture", "load", Width::kNone},         // TLD4
    {0x164, "texture", "load", Width::kNone},         // TLD4 with bindless operands
    {0x166, "texture", "load", Width::kNone},         // TLD
    {0x167, "texture", "load", Width::kNone},         // TLD with bindless operands
    {0x180, "generic", "load", Width::kMemory},       // LD
    {0x181, "global", "load", Width::kMemory},        // LDG
    {0x182, "constant", "load", Width::kMemory},      // LDC
    {0x183, "local", "load", Width::kMemory},         // LDL
    {0x184, "shared", "load", Width::kMemory},        // LDS
    {0x185, "generic", "store", Width::kMemory},      // ST
    {0x186, "global", "store", Width::kMemory},       // STG
    {0x187, "local", "store", Width::kMemory},        // STL
    {0x188, "shared", "store", Width::kMemory},       // STS
    {0x18a, "generic", "atomic", Width::kAtomic},     // ATOM
    {0x18b, "generic", "atomic", Width::kCompare},    // ATOM.CAS
    {0x18c, "shared", "atomic", Width::kAtomic},      // ATOMS
    {0x18d, "shared", "atomic", Width::kCompare},     // ATOMS.CAS
    {0x18e, "global", "reduction", Width::kAtomic},   // RED, REDG
    {0x199, "surface", "load", Width::kMemory},       // SULD
    {0x19d, "surface", "store", Width::kMemory},      // SUST
    {0x1a2, "generic", "atomic", Width::kFloat},      // ATOM of floats
    {0x1a3, "global", "atomic", Width::kFloat},       // ATOMG of floats
    {0x1a6, "global", "reduction", Width::kFloat},    // REDG of floats
    {0x1a8, "global", "atomic", Width::kAtomic},      // ATOMG
    {0x1a9, "global", "atomic", Width::kCompare},     // ATOMG.CAS
    {0x1ae, "global", "async_copy", Width::kCopy},    // LDGSTS
};

uint32_t bytes(Width width, uint64_t high, unsigned architecture) {
    // Bit 73 of the instruction is bit 9 of its upper half.
    unsigned size = (high >> 9) & 7;
    switch (width) {
        case Width::kCopy:
            if (architecture >= 100) return 4u << (size >> 1);
            [[fallthrough]];
        case Width::kMemory: {
            constexpr uint32_t kBytes[] = {1, 1, 2, 2, 4, 8, 16, 32};
            return kBytes[size];
        }
        case Width::kAtomic: {
            constexpr uint32_t kBytes[] = {4, 4, 8, 4, 4, 8, 8, 16};
            return architecture >= 90 && size == 3 ? 8 : kBytes[size];
        }
        case Width::kFloat: return size == 7 ? 8 : 4;
        case Width::kCompare: return (size & 2) ? 8 : 4;
        case Width::kMatrix: return 4u << std::min<uint64_t>((high >> 8) & 3, 2);
        case Width::kNone: return 0;
    }
    return 0;
}

}  // namespace

std::optional<MemoryInstruction> decode(uint64_t low, uint64_t high, unsigned architecture) {
    auto opcode = uint16_t(low & 0x1ff);
    // The form in bits 9–11 is never 0 for these; 0 would be another instruction.
    auto row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.opcode == opcode; });
    if (row == std::end(kRows) || (low & 0xe00) == 0) return std::nullopt;
    return MemoryInstruction{row->space, row->operation, bytes(row->width, high, architecture)};
}

std::optional<MemoryInstruction> decode(std::string_view code, uint64_t pc, unsigned architecture) {
    uint64_t halves[2];
    if (code.size() < sizeof halves || pc > code.size() - sizeof halves) return std::nullopt;
    std::memcpy(halves, code.data() + pc, sizeof halves);
    return decode(halves[0], halves[1], architecture);
}

}  // namespace lanescope::hardware
