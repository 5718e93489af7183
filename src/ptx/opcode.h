// The words of PTX instructions as enums, generated from the tables opcodes.def, suffixes.def and special_registers.def.
//
// `cp.async.bulk.tensor.2d.global…` is Opcode::kCpAsyncBulkTensor with the suffixes k2d, kGlobal, …: the words of the mnemonic are not
// among the suffixes. Everything else is: `bar.sync` is kBar with kSync, `ld.global.nc.v2.f32` kLd with kGlobal, kNc, kV2, kF32.
// Enumerators are the words joined in camel case: `L1::no_allocate` is kL1NoAllocate, `m16n8k16` kM16n8k16, `%tid.x` kTidX.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lanescope::ptx {

enum class Type : uint8_t;
enum class Space : uint8_t;

/// What kind of thing an instruction does; every opcode has one.
enum class OpcodeClass : uint8_t {
    kArithmetic,  ///< each lane for itself, registers to registers
    kAddress,     ///< about addresses and the stack, without an access
    kMemory,      ///< loads, stores, atomics, cache hints
    kAsync,       ///< copies and accesses that complete later
    kBarrier,     ///< barriers, mbarriers, fences
    kCollective,  ///< lanes of a warp exchange values
    kControl,     ///< may change the program counter
    kMatrix,      ///< warp and warpgroup matrix instructions, tensor memory
    kTexture,     ///< textures and surfaces
    kMisc,
};

enum class Opcode : uint16_t {
#define LANESCOPE_OPCODE(enumerator, mnemonic, opcode_class, destinations) enumerator,
#include "ptx/opcodes.def"
#undef LANESCOPE_OPCODE
};

enum class Suffix : uint16_t {
#define LANESCOPE_SUFFIX(enumerator, text, type, space) enumerator,
#include "ptx/suffixes.def"
#undef LANESCOPE_SUFFIX
};

enum class SpecialRegister : uint16_t {
#define LANESCOPE_SPECIAL_REGISTER(enumerator, name, type, vector) enumerator,
#include "ptx/special_registers.def"
#undef LANESCOPE_SPECIAL_REGISTER
};

// Sizes of the tables, for arrays indexed by an enumerator.
constexpr unsigned kOpcodes = 0
#define LANESCOPE_OPCODE(enumerator, mnemonic, opcode_class, destinations) +1
#include "ptx/opcodes.def"
#undef LANESCOPE_OPCODE
    ;
constexpr unsigned kSuffixes = 0
#define LANESCOPE_SUFFIX(enumerator, text, type, space) +1
#include "ptx/suffixes.def"
#undef LANESCOPE_SUFFIX
    ;
constexpr unsigned kSpecialRegisters = 0
#define LANESCOPE_SPECIAL_REGISTER(enumerator, name, type, vector) +1
#include "ptx/special_registers.def"
#undef LANESCOPE_SPECIAL_REGISTER
    ;

std::string_view to_string(Opcode opcode);             ///< "cp.async"
std::string_view to_string(Suffix suffix);             ///< without the dot: "L1::no_allocate"
std::string_view to_string(SpecialRegister reg);       ///< "%tid.x"
OpcodeClass class_of(Opcode opcode);
unsigned destinations_of(Opcode opcode);               ///< leading operands that the plain form writes
Type type_of(Suffix suffix);                           ///< Type::kNone where it names none
Space space_of(Suffix suffix);                         ///< Space::kGeneric where it names none
Type type_of(SpecialRegister reg);
unsigned vector_of(SpecialRegister reg);               ///< 4 for `%tid` itself, else 1

/// The opcode with the longest mnemonic that `text` ("cp.async.bulk.tensor.2d") begins with, at a word's end.
struct OpcodeMatch {
    Opcode opcode{};
    size_t length = 0;  ///< characters of `text` that it takes
};
std::optional<OpcodeMatch> find_opcode(std::string_view text);
std::optional<Suffix> find_suffix(std::string_view text);              ///< without the dot
std::optional<SpecialRegister> find_special_register(std::string_view name);  ///< with the '%'

}  // namespace lanescope::ptx
