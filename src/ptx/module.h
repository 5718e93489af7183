// The syntax tree of a PTX module: what the parser builds, the printer prints and the emulator decodes.
//
// Everything nameable is resolved: operands hold indices, never names. Nested `{ }` scopes are flattened by the parser, which
// gives each register, variable and label of a function a name of its own.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/opcode.h"  // Opcode, Suffix, SpecialRegister: enums generated from the tables opcodes.def, suffixes.def, special_registers.def

namespace lanescope::ptx {

/// Fundamental types. Sizes in bits: `bits(Type)`.
enum class Type : uint8_t {
    kNone, kPred,
    kB8, kB16, kB32, kB64, kB128,
    kU8, kU16, kU32, kU64,
    kS8, kS16, kS32, kS64,
    kF16, kF16x2, kBf16, kBf16x2, kTf32, kF32, kF32x2, kF64,
    kE4m3, kE5m2, kE4m3x2, kE5m2x2, kE2m3, kE3m2, kE2m1, kE2m3x2, kE3m2x2, kE2m1x2, kUe8m0, kUe8m0x2, kUe4m3,
    kE4m3x4, kE5m2x4, kE2m3x4, kE3m2x4, kE2m1x4,
    kU16x2, kS16x2, kU8x4, kS8x4, kS4, kU4, kB1, kB4, kB6,
    kTexref, kSamplerref, kSurfref,
};
unsigned bits(Type type);              ///< 1 for kPred, 0 for kNone and the opaque types' callers must not ask
std::string_view to_string(Type type); ///< without the dot: "u32"

/// State spaces. kGeneric is the absence of one.
enum class Space : uint8_t { kGeneric, kRegister, kSpecial, kConst, kGlobal, kLocal, kParam, kShared, kTexture };
std::string_view to_string(Space space);

constexpr uint32_t kNone = UINT32_MAX;  ///< "no index" everywhere in this file

enum class Linkage : uint8_t { kInternal, kExtern, kVisible, kWeak, kCommon };

/// A source position as a chain: where the instruction stands, and where the function it stands in was inlined.
struct Location {
    uint32_t file = kNone;          ///< index into Module::files
    uint32_t line = 0, column = 0;
    std::string function;           ///< name of the inlined function (from .debug_str), empty for the kernel itself
    uint32_t inlined_at = kNone;    ///< index into Module::locations: the next frame outwards
    friend bool operator==(const Location&, const Location&) = default;
};

struct Operand {
    enum class Kind : uint8_t {
        kRegister,     ///< index: Function::registers
        kImmediate,    ///< value: the 64 raw bits of an integer, or of a float as immediate_type says (f32: low 32 bits)
        kVariable,     ///< index: symbol (see Symbol); value: byte offset; the address of a variable
        kFunction,     ///< index: Module::functions; the address of (or the call of) a function
        kSpecial,      ///< index: SpecialRegister
        kLabel,        ///< index: Function::labels
        kAddress,      ///< `[base + value]`; elements[0] is the base (register, variable, immediate); for textures and tensor maps the other
                       ///< parts of the bracket follow in elements
        kVector,       ///< `{a, b, …}` in elements
        kPair,         ///< `p|q` in elements (setp, shfl, match, ...)
        kList,         ///< `(a, b, …)` of call in elements. Operands of call: list of results, target, list of arguments (lists may be
                       ///< empty), and for an indirect call its kTable
        kTable,        ///< index: Function::prototypes if local_symbol, else Function::tables (call targets, branch targets)
        kSink,         ///< `_`
    };
    Kind kind = Kind::kSink;
    bool negated = false;                 ///< kRegister: `!p` of a predicate, `-a` of another (vmad)
    Type immediate_type = Type::kNone;    ///< kImmediate: kF32 (0f…), kF64 (0d… or decimal) or kS64/kU64
    uint16_t component = 0;               ///< kRegister of vector type: 0 none, 1…4 for .x .y .z .w; else a video selector, see component()
    bool local_symbol = false;            ///< kVariable: index is into Function::variables, else Module::variables
    uint32_t index = kNone;
    int64_t value = 0;
    std::vector<Operand> elements;
    friend bool operator==(const Operand&, const Operand&) = default;
};

/// The code of a register's component or video selector ("x", "b3", "h10", "b7654"), 0 if `text` is none: x y z w 1…4, b0…b3 5…8,
/// h0 h1 9 10; longer ones are kHalfSelector, or kByteSelector plus their digits - 2 shifted left by 12, with three bits for each digit,
/// the leftmost digit highest.
uint16_t component(std::string_view text);
std::string component_name(uint16_t code);
constexpr uint16_t kHalfSelector = 0x4000;  ///< h10, h32, …: two digits 0…3
constexpr uint16_t kByteSelector = 0x8000;  ///< b10, b210, b7654, …: two to four digits 0…7

struct Guard {
    uint32_t predicate = kNone;           ///< register index; kNone: unguarded
    bool negated = false;
    friend bool operator==(const Guard&, const Guard&) = default;
};

struct Instruction {
    Opcode opcode{};
    Guard guard;
    std::vector<Suffix> suffixes;         ///< every dot-suffix in source order, types and spaces included: enough to print it
    std::array<Type, 5> types{};          ///< the type suffixes among them, in order
    Space space = Space::kGeneric;        ///< the first state-space suffix
    uint8_t vector = 1;                   ///< 1, 2, 4 or 8 from .v2 .v4 .v8
    std::vector<Operand> operands;
    uint32_t line = 0, column = 0;        ///< position in the PTX text
    uint32_t location = kNone;            ///< index into Module::locations: position in the CUDA source
    bool has(Suffix suffix) const {
        for (Suffix s : suffixes)
            if (s == suffix) return true;
        return false;
    }
    friend bool operator==(const Instruction&, const Instruction&) = default;
};

/// Only registers that are used: nvcc declares `%r<N>` with members that are not.
struct Register {
    std::string name;                     ///< with its '%', unique in the function
    Type type = Type::kNone;
    uint8_t vector = 1;
    friend bool operator==(const Register&, const Register&) = default;
};

/// A place in an initialiser that holds a symbol's address.
struct Relocation {
    uint64_t offset = 0;                  ///< byte offset into the variable
    bool function = false;                ///< index is into Module::functions, else Module::variables
    uint32_t index = kNone;
    int64_t addend = 0;
    bool generic = false;                 ///< `generic(symbol)`: the generic address, else the address in the symbol's own space
    uint8_t bytes = 8;
    uint8_t shift = 0;                    ///< for `mask(symbol)` initialisers: bits to shift right before storing
    friend bool operator==(const Relocation&, const Relocation&) = default;
};

struct Variable {
    std::string name;
    Space space = Space::kGlobal;
    Linkage linkage = Linkage::kInternal;
    Type type = Type::kNone;
    uint8_t vector = 1;
    uint32_t alignment = 0;               ///< bytes; the parser fills in the type's own where none is given
    std::vector<uint64_t> dimensions;     ///< empty: scalar; a dimension of 0 is `[]`
    bool managed = false;                 ///< .attribute(.managed)
    bool pointer = false;                 ///< kernel parameter with .ptr: it points into pointer_space, aligned to pointer_alignment (0: unsaid)
    Space pointer_space = Space::kGeneric;
    uint32_t pointer_alignment = 0;
    std::vector<uint8_t> initializer;     ///< the leading bytes of the variable; what follows them is zero
    std::vector<Relocation> relocations;
    uint32_t line = 0, column = 0;
    uint64_t bytes() const;               ///< 0 for `[]`
    friend bool operator==(const Variable&, const Variable&) = default;
};

struct Label {
    std::string name;
    uint32_t position = 0;                ///< index into Function::body of the instruction that follows (may be body.size())
    friend bool operator==(const Label&, const Label&) = default;
};

/// `.branchtargets` / `.calltargets`: labels or functions.
struct Table {
    std::string name;
    bool functions = false;
    std::vector<uint32_t> targets;
    friend bool operator==(const Table&, const Table&) = default;
};

/// `.callprototype`
struct Prototype {
    std::string name;
    std::vector<Variable> returns, parameters;
    bool noreturn = false;
    friend bool operator==(const Prototype&, const Prototype&) = default;
};

/// `.pragma` among the instructions: about the one at `position`.
struct Pragma {
    std::string text;
    uint32_t position = 0;
    friend bool operator==(const Pragma&, const Pragma&) = default;
};

struct Function {
    std::string name;
    bool entry = false;
    bool defined = false;                 ///< has a body
    bool noreturn = false;
    Linkage linkage = Linkage::kInternal;
    std::vector<Variable> parameters, returns;   ///< space kParam or kRegister; also present in `variables`/`registers` when defined
    std::vector<uint32_t> parameter_symbols, return_symbols;  ///< indices into variables (kParam) or registers (kRegister)
    std::vector<Register> registers;
    std::vector<Variable> variables;      ///< .param (parameters and call arguments), .local, .shared, .const of the body
    std::vector<Label> labels;
    std::vector<Table> tables;
    std::vector<Prototype> prototypes;
    std::vector<Instruction> body;
    std::array<uint32_t, 3> max_threads{};       ///< .maxntid, 0 = absent
    std::array<uint32_t, 3> required_threads{};  ///< .reqntid
    uint32_t min_blocks = 0, max_registers = 0;  ///< .minnctapersm, .maxnreg
    std::array<uint32_t, 3> required_cluster{};  ///< .reqnctapercluster
    bool explicit_cluster = false;
    bool blocks_are_clusters = false;     ///< .blocksareclusters
    uint32_t max_cluster_rank = 0;        ///< .maxclusterrank
    uint32_t max_blocks = 0;              ///< .maxnctapersm
    uint32_t alias_of = kNone;            ///< `.alias`: the function that calls of this one go to (operands already name that one)
    std::vector<Pragma> pragmas;
    uint32_t line = 0, column = 0;
    uint32_t location = kNone;            ///< where the function begins in the CUDA source
    friend bool operator==(const Function&, const Function&) = default;
};

struct Version {
    uint32_t major = 0, minor = 0;
    friend bool operator==(const Version&, const Version&) = default;
};

struct Module {
    std::string name;                     ///< for messages: a path, or "fat binary of PROGRAM, unit 2"
    Version version;
    std::string target;                   ///< "sm_75", with its options as written: "sm_90a, debug"
    uint32_t address_bits = 64;
    std::vector<std::string> files;       ///< .file index → name; index 0 may be unused
    std::vector<Location> locations;
    std::vector<Variable> variables;      ///< module scope: .global .const .shared .texref …
    std::vector<Function> functions;      ///< definitions and declarations; entries behind all others
    std::vector<std::string> sections;    ///< debug sections verbatim, for the printer
    std::vector<std::string> pragmas;
    friend bool operator==(const Module&, const Module&) = default;
};

}  // namespace lanescope::ptx
