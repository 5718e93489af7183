#include "exec/mma.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>

#include "exec/alu_float.h"
#include "exec/convert.h"

namespace lanescope::exec {
namespace {

using ptx::Opcode;
using ptx::Suffix;
using ptx::Type;

MatrixShape shape_of(const ptx::Instruction& instruction) {
    for (const Suffix suffix : instruction.suffixes) {
        switch (suffix) {
            case Suffix::kM8n8k4: return {8, 8, 4};
            case Suffix::kM8n8k16: return {8, 8, 16};
            case Suffix::kM8n8k32: return {8, 8, 32};
            case Suffix::kM8n8k128: return {8, 8, 128};
            case Suffix::kM16n8k4: return {16, 8, 4};
            case Suffix::kM16n8k8: return {16, 8, 8};
            case Suffix::kM16n8k16: return {16, 8, 16};
            case Suffix::kM16n8k32: return {16, 8, 32};
            case Suffix::kM16n8k64: return {16, 8, 64};
            case Suffix::kM16n8k128: return {16, 8, 128};
            case Suffix::kM16n8k256: return {16, 8, 256};
            case Suffix::kM16n16k8: return {16, 16, 8};
            case Suffix::kM16n16k16: return {16, 16, 16};
            case Suffix::kM32n8k16: return {32, 8, 16};
            case Suffix::kM8n32k16: return {8, 32, 16};
            default: break;
        }
    }
    return {};
}

unsigned element_bits(Type type) {
    switch (type) {
        case Type::kB1: return 1;
        case Type::kU4: case Type::kS4: return 4;
        case Type::kU8: case Type::kS8: case Type::kE4m3: case Type::kE5m2: return 8;
        case Type::kF16: case Type::kBf16: return 16;
        case Type::kTf32: case Type::kF32: case Type::kS32: return 32;
        case Type::kF64: return 64;
        default: return 0;
    }
}

/// Registers of a lane that hold the whole matrix once.
unsigned registers_of(const Fragment& fragment) {
    const auto& [m, n, k] = fragment.shape;
    const unsigned elements = fragment.matrix == Matrix::kA ? m * k : fragment.matrix == Matrix::kB ? k * n : m * n;
    return elements / 32 / fragment.per_register();
}

}  // namespace

Position Fragment::position(unsigned lane, unsigned reg, unsigned index) const {
    const unsigned group = lane / 4, member = lane % 4, width = per_register();
    reg %= registers_of(*this);
    if (matrix == Matrix::kA) {
        const unsigned blocks = shape.m / 8;
        return {group + 8 * (reg % blocks), (reg / blocks * 4 + member) * width + index};
    }
    if (matrix == Matrix::kB) {
        const unsigned blocks = shape.k / (4 * width);
        return {(reg % blocks * 4 + member) * width + index, group + 8 * (reg / blocks)};
    }
    // Two neighbouring columns a lane: one register of 16-bit elements, two of larger ones.
    const unsigned pair = width == 2 ? reg : reg / 2, column = width == 2 ? index : reg % 2, blocks = shape.m / 8;
    if (shape.m == 8 && shape.n == 32) return {2 * member + column, group + 8 * pair};  // machine code multiplies the transposed matrices
    return {group + 8 * (pair % blocks), 8 * (pair / blocks) + 2 * member + column};
}

namespace {

// ---- the control word ------------------------------------------------------------------------------------------------

struct Plan {
    MatrixShape shape;
    Type d{}, a{}, b{}, c{};
    bool a_columns = false, b_rows = false;   ///< m8n8k4: .col a, .row b
    bool finite = false;                      ///< .satfinite
    bool bitwise_and = false;                 ///< b1: .and.popc, else .xor.popc
    Plan() = default;
    explicit Plan(uint64_t word)
        : shape{unsigned(word & 63), unsigned(word >> 6 & 63), unsigned(word >> 12 & 511)}, d(Type(word >> 21 & 63)), a(Type(word >> 27 & 63)),
          b(Type(word >> 33 & 63)), c(Type(word >> 39 & 63)), a_columns((word >> 45 & 1) != 0), b_rows((word >> 46 & 1) != 0),
          finite((word >> 47 & 1) != 0), bitwise_and((word >> 48 & 1) != 0) {}
    uint64_t word() const {
        return shape.m | shape.n << 6 | shape.k << 12 | uint64_t(d) << 21 | uint64_t(a) << 27 | uint64_t(b) << 33 | uint64_t(c) << 39 |
               uint64_t(a_columns) << 45 | uint64_t(b_rows) << 46 | uint64_t(finite) << 47 | uint64_t(bitwise_and) << 48;
    }
    Fragment fragment(Matrix matrix, Type type, unsigned registers = 0) const {
        Fragment result{matrix, shape, element_bits(type), registers};
        if (registers == 0) result.registers = registers_of(result);
        return result;
    }
};

bool is_quad(const Plan& plan) { return plan.shape.k == 4 && plan.a == Type::kF16; }

constexpr unsigned kMaxRows = 32, kMaxColumns = 32, kMaxDepth = 256;

// ---- tensor cores ----------------------------------------------------------------------------------------------------

/// A factor: the value and the exponent that the tensor core aligns by (of subnormals: the smallest normal one).
struct Factor {
    double value = 0;
    int exponent = 0;
};
const Format& format_of(Type type) {
    switch (type) {
        case Type::kF16: return kFormatF16;
        case Type::kBf16: return kFormatBf16;
        case Type::kTf32: return kFormatTf32;
        case Type::kE4m3: return kFormatE4m3;
        case Type::kE5m2: return kFormatE5m2;
        default: return kFormatF32;
    }
}
Factor factor(uint64_t code, const Format& format) {
    const double value = decode(code, format);
    const int exponent = int(code >> format.mantissa_bits & ((1u << format.exponent_bits) - 1));
    return {value, (exponent == 0 ? 1 : exponent) - format.bias()};
}

/// How a tensor core adds: products and accumulator of one step are aligned to the greatest exponent, cut to `fraction` bits below
/// it and added exactly.
struct Adder {
    unsigned products;     ///< of one step
    int fraction;
};

double add_step(const Factor* a, const Factor* b, unsigned count, double accumulator, int accumulator_exponent, const Adder& adder) {
    int top = accumulator != 0 ? accumulator_exponent : INT32_MIN;
    bool finite = std::isfinite(accumulator);
    double plain = accumulator;
    for (unsigned i = 0; i < count; ++i) {
        const double product = a[i].value * b[i].value;
        plain += product;
        finite &= std::isfinite(product);
        if (product != 0) top = std::max(top, a[i].exponent + b[i].exponent);
    }
    if (!finite) return plain;
    if (top == INT32_MIN) return 0;
    const double unit = std::ldexp(1, adder.fraction - top);
    double sum = std::trunc(accumulator * unit);
    for (unsigned i = 0; i < count; ++i) sum += std::trunc(a[i].value * b[i].value * unit);
    return sum / unit;
}

constexpr Adder kHopper{16, 25};              ///< reproduces every recorded result of an H200
constexpr double kFloatLimit = 0x1p128;

uint64_t register_value(const void* row, unsigned bits, unsigned lane) {
    return bits == 64 ? static_cast<const uint64_t*>(row)[lane] : static_cast<const uint32_t*>(row)[lane];
}
/// Calls `element(position, code)` for every element of a fragment.
template <class F>
void gather(const Fragment& fragment, const void* const* rows, const F& element) {
    const unsigned width = fragment.per_register(), bits = fragment.element_bits;
    for (unsigned reg = 0; reg < registers_of(fragment); ++reg)
        for (unsigned lane = 0; lane < 32; ++lane) {
            const uint64_t word = register_value(rows[reg], bits, lane);
            for (unsigned i = 0; i < width; ++i)
                element(fragment.position(lane, reg, i), bits == 64 ? word : word >> bits * i & ((uint64_t(1) << bits) - 1));
        }
}
template <class F>
void scatter(const Fragment& fragment, void* const* rows, const F& code_at) {
    const unsigned width = fragment.per_register(), bits = fragment.element_bits;
    for (unsigned reg = 0; reg < fragment.registers; ++reg)
        for (unsigned lane = 0; lane < 32; ++lane) {
            uint64_t word = 0;
            for (unsigned i = 0; i < width; ++i) word |= code_at(fragment.position(lane, reg, i)) << bits * i;
            if (bits == 64) static_cast<uint64_t*>(rows[reg])[lane] = word;
            else static_cast<uint32_t*>(rows[reg])[lane] = static_cast<uint32_t>(word);
        }
}

/// Rows of the three operands: a, then b, then c.
struct Sources {
    const void* const* a;
    const void* const* b;
    const void* const* c;
};

void multiply_floats(const Plan& plan, const Sources& sources, void* const* destination) {
    static thread_local Factor a[kMaxRows][kMaxDepth], b[kMaxColumns][kMaxDepth];
    static thread_local uint32_t c[kMaxRows][kMaxColumns];
    const Format& a_format = format_of(plan.a);
    const Format& b_format = format_of(plan.b);
    const unsigned drop = plan.a == Type::kTf32 ? 13 : 0;
    // 8-bit formats go through f16: first the lower two of each four elements, then the upper two, and c is added at the end.
    const bool bytes = plan.fragment(Matrix::kA, plan.a).element_bits == 8;
    const unsigned depth = plan.shape.k;
    const auto place = [&](unsigned k) { return bytes ? (k % 4 / 2) * (depth / 2) + k / 4 * 2 + k % 2 : k; };
    const Format& format = plan.d == Type::kF16 ? kFormatF16 : kFormatF32;
    const Format& c_format = plan.c == Type::kF16 ? kFormatF16 : kFormatF32;
    const Adder adder{bytes ? depth / 2 : kHopper.products, kHopper.fraction};
    gather(plan.fragment(Matrix::kA, plan.a), sources.a, [&](Position at, uint64_t code) { a[at.row][place(at.column)] = factor(code >> drop, a_format); });
    gather(plan.fragment(Matrix::kB, plan.b), sources.b, [&](Position at, uint64_t code) { b[at.column][place(at.row)] = factor(code >> drop, b_format); });
    gather(plan.fragment(Matrix::kC, plan.c), sources.c, [&](Position at, uint64_t code) { c[at.row][at.column] = static_cast<uint32_t>(code); });
    const auto round = [&](double sum) {
        if (plan.d == Type::kF16) return encode(exact(sum), format, Rounding::kRn, false);
        return encode(exact(std::fabs(sum) < kFloatLimit ? sum : sum * __builtin_inf()), format, Rounding::kRz, false);
    };
    for (unsigned row = 0; row < plan.shape.m; ++row)
        for (unsigned column = 0; column < plan.shape.n; ++column) {
            const Factor addend = factor(c[row][column], c_format);
            Factor sum = bytes ? Factor{} : addend;
            uint64_t code = 0;
            for (unsigned k = 0; k < depth; k += adder.products) {
                code = round(add_step(&a[row][k], &b[column][k], std::min(adder.products, depth - k), sum.value, sum.exponent, adder));
                sum = factor(code, format);
            }
            if (bytes) code = encode(exact(sum.value + addend.value), format, Rounding::kRn, false);
            c[row][column] = static_cast<uint32_t>(code);
        }
    scatter(plan.fragment(Matrix::kC, plan.d), destination, [&](Position at) { return uint64_t(c[at.row][at.column]); });
}

/// m8n8k4 of f16: four 8 × 8 × 4 products, each by a quad of lanes and the quad 16 lanes above. Volta's own form; later GPUs compute it
/// with scalar instructions, in this order.
void multiply_quads(const Plan& plan, const Sources& sources, void* const* destination) {
    const auto half = [](const void* const* rows, unsigned lane, unsigned i) {
        return half_to_float({static_cast<uint16_t>(static_cast<const uint32_t*>(rows[i / 2])[lane] >> 16 * (i % 2))});
    };
    for (unsigned quad = 0; quad < 16; quad += 4) {
        float a[8][4], b[8][4];
        for (unsigned index = 0; index < 8; ++index)
            for (unsigned k = 0; k < 4; ++k) {
                const unsigned own = quad + index % 4 + (index & 4) * 4, other = quad + k + (index & 4) * 4;
                a[index][k] = plan.a_columns ? half(sources.a, other, index % 4) : half(sources.a, own, k);
                b[index][k] = plan.b_rows ? half(sources.b, other, index % 4) : half(sources.b, own, k);
            }
        const auto dot = [&](unsigned row, unsigned column, unsigned from, unsigned to) {
            float sum = 0;
            for (unsigned k = from; k < to; ++k) sum = std::fma(a[row][k], b[column][k], sum);
            return sum;
        };
        for (unsigned member = 0; member < 8; ++member) {
            const unsigned lane = quad + member % 4 + (member & 4) * 4;
            uint32_t results[8];
            for (unsigned i = 0; i < 8; ++i) {
                if (plan.d == Type::kF16) {
                    const float sum = half(sources.c, lane, i) + dot(member, i, 0, 2) + dot(member, i, 2, 4);
                    results[i] = float_to_half(sum).bits;
                } else {
                    const unsigned row = (member & 1) + (i & 2) + (member & 4), column = (i & 4) + (member & 2) + (i & 1);
                    results[i] = bits_of(canonical(dot(row, column, 0, 4) + float_of(static_cast<const uint32_t*>(sources.c[i])[lane])));
                }
            }
            for (unsigned i = 0; i < 8; ++i) {
                if (plan.d != Type::kF16) static_cast<uint32_t*>(destination[i])[lane] = results[i];
                else if (i % 2 == 0) static_cast<uint32_t*>(destination[i / 2])[lane] = results[i] | results[i + 1] << 16;
            }
        }
    }
}

void multiply_doubles(const Plan& plan, const Sources& sources, void* const* destination) {
    double a[16][16], b[8][16], c[16][8];
    gather(plan.fragment(Matrix::kA, plan.a), sources.a, [&](Position at, uint64_t code) { a[at.row][at.column] = std::bit_cast<double>(code); });
    gather(plan.fragment(Matrix::kB, plan.b), sources.b, [&](Position at, uint64_t code) { b[at.column][at.row] = std::bit_cast<double>(code); });
    gather(plan.fragment(Matrix::kC, plan.c), sources.c, [&](Position at, uint64_t code) { c[at.row][at.column] = std::bit_cast<double>(code); });
    for (unsigned row = 0; row < plan.shape.m; ++row)
        for (unsigned column = 0; column < plan.shape.n; ++column)
            for (unsigned k = 0; k < plan.shape.k; ++k)
                c[row][column] = Ruled<FloatFma, false, false>()(a[row][k], b[column][k], c[row][column]);
    scatter(plan.fragment(Matrix::kC, plan.d), destination, [&](Position at) { return std::bit_cast<uint64_t>(c[at.row][at.column]); });
}

int32_t integer_element(uint64_t code, Type type) {
    switch (type) {
        case Type::kS8: return int8_t(code);
        case Type::kS4: return int32_t(code ^ 8) - 8;
        default: return int32_t(code);
    }
}
void multiply_integers(const Plan& plan, const Sources& sources, void* const* destination) {
    static thread_local int32_t a[kMaxRows][kMaxDepth], b[kMaxColumns][kMaxDepth], c[kMaxRows][kMaxColumns];
    gather(plan.fragment(Matrix::kA, plan.a), sources.a, [&](Position at, uint64_t code) { a[at.row][at.column] = integer_element(code, plan.a); });
    gather(plan.fragment(Matrix::kB, plan.b), sources.b, [&](Position at, uint64_t code) { b[at.column][at.row] = integer_element(code, plan.b); });
    gather(plan.fragment(Matrix::kC, plan.c), sources.c, [&](Position at, uint64_t code) { c[at.row][at.column] = int32_t(uint32_t(code)); });
    for (unsigned row = 0; row < plan.shape.m; ++row)
        for (unsigned column = 0; column < plan.shape.n; ++column) {
            int64_t sum = c[row][column];
            for (unsigned k = 0; k < plan.shape.k; ++k) {
                const int32_t x = a[row][k], y = b[column][k];
                sum += plan.a != Type::kB1 ? int64_t(x) * y : plan.bitwise_and ? x & y : x ^ y;
            }
            if (plan.finite) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
            c[row][column] = int32_t(uint32_t(sum));
        }
    scatter(plan.fragment(Matrix::kC, plan.d), destination, [&](Position at) { return uint64_t(uint32_t(c[at.row][at.column])); });
}

constexpr unsigned kWmmaHalfRegisters = 8;  ///< of a wmma fragment of f16, however many its matrix needs

struct Registers { unsigned d, a, b, c; };
Registers registers_of(const Plan& plan, bool wmma) {
    if (is_quad(plan)) return {plan.d == Type::kF16 ? 4u : 8u, 2, 2, plan.c == Type::kF16 ? 4u : 8u};
    const bool eight = wmma && plan.a == Type::kF16;
    return {plan.fragment(Matrix::kC, plan.d).registers, eight ? kWmmaHalfRegisters : plan.fragment(Matrix::kA, plan.a).registers,
            eight ? kWmmaHalfRegisters : plan.fragment(Matrix::kB, plan.b).registers, plan.fragment(Matrix::kC, plan.c).registers};
}

bool known_suffixes(const ptx::Instruction& instruction) {
    return std::all_of(instruction.suffixes.begin(), instruction.suffixes.end(), [](Suffix suffix) {
        switch (suffix) {
            case Suffix::kSync: case Suffix::kAligned: case Suffix::kRow: case Suffix::kCol: case Suffix::kSatfinite: case Suffix::kXor:
            case Suffix::kAnd: case Suffix::kPopc: case Suffix::kRn: return true;
            default: {
                ptx::Instruction alone;
                alone.suffixes = {suffix};
                return ptx::type_of(suffix) != Type::kNone || shape_of(alone).m != 0;
            }
        }
    });
}
bool known_types(const Plan& plan) {
    const auto one_of = [](Type type, std::initializer_list<Type> list) { return std::find(list.begin(), list.end(), type) != list.end(); };
    if (plan.shape.m == 0) return false;
    switch (plan.a) {
        case Type::kF16: return plan.b == plan.a && one_of(plan.d, {Type::kF16, Type::kF32}) && one_of(plan.c, {Type::kF16, Type::kF32});
        case Type::kBf16: case Type::kTf32: return plan.b == plan.a && plan.d == Type::kF32 && plan.c == Type::kF32;
        case Type::kF64: return plan.b == plan.a && plan.d == Type::kF64 && plan.c == Type::kF64;
        case Type::kE4m3: case Type::kE5m2: return one_of(plan.b, {Type::kE4m3, Type::kE5m2}) && plan.c == plan.d && one_of(plan.d, {Type::kF16, Type::kF32});
        case Type::kU8: case Type::kS8: return one_of(plan.b, {Type::kU8, Type::kS8}) && plan.d == Type::kS32 && plan.c == Type::kS32;
        case Type::kU4: case Type::kS4: return one_of(plan.b, {Type::kU4, Type::kS4}) && plan.d == Type::kS32 && plan.c == Type::kS32;
        case Type::kB1: return plan.b == plan.a && plan.d == Type::kS32 && plan.c == Type::kS32;
        default: return false;
    }
}
bool known_operands(const Plan& plan, const ptx::Instruction& instruction, bool wmma) {
    const Registers expected = registers_of(plan, wmma);
    const auto count = [&](size_t i) { return std::max<size_t>(1, instruction.operands[i].elements.size()); };
    return instruction.operands.size() == 4 && count(0) == expected.d && count(1) == expected.a && count(2) == expected.b && count(3) == expected.c;
}

/// a, b and c follow each other; a wmma fragment may have more registers than mma's.
template <bool kWmma>
void multiply(const WarpOperands& operands) {
    const Plan plan(operands.control & ((uint64_t(1) << 49) - 1));
    const Registers registers = registers_of(plan, kWmma);
    const Sources sources{operands.source, operands.source + registers.a, operands.source + registers.a + registers.b};
    if (plan.a == Type::kF64) return multiply_doubles(plan, sources, operands.destination);
    if (is_quad(plan)) return multiply_quads(plan, sources, operands.destination);
    if (plan.d == Type::kS32) return multiply_integers(plan, sources, operands.destination);
    multiply_floats(plan, sources, operands.destination);
}

void transpose(const WarpOperands& operands) {
    Plan plan;
    plan.shape = {8, 8, 8};
    const Fragment fragment = plan.fragment(Matrix::kA, Type::kF16);  // an 8 × 8 block of 16-bit elements
    uint64_t matrix[8][8];
    gather(fragment, operands.source, [&](Position at, uint64_t code) { matrix[at.column][at.row] = code; });
    scatter(fragment, operands.destination, [&](Position at) { return matrix[at.row][at.column]; });
}

}  // namespace

WarpOperation find_warp_function(const ptx::Instruction& instruction) {
    if (instruction.opcode == Opcode::kMovmatrix) return instruction.operands.size() == 2 ? WarpOperation{transpose, 0} : WarpOperation{};
    const bool wmma = instruction.opcode == Opcode::kWmmaMma;
    if ((instruction.opcode != Opcode::kMma && !wmma) || !known_suffixes(instruction)) return {};
    Plan plan;
    plan.shape = shape_of(instruction);
    const auto& types = instruction.types;
    const bool short_form = types[2] == Type::kNone;  // wmma of f16: only the types of d and c
    plan.d = types[0];
    plan.a = short_form ? Type::kF16 : types[1];
    plan.b = short_form ? Type::kF16 : types[2];
    plan.c = short_form ? types[1] : types[3];
    // The first layout suffix is a's, the second b's.
    bool first = true;
    for (const Suffix suffix : instruction.suffixes)
        if (suffix == Suffix::kRow || suffix == Suffix::kCol) {
            if (first) plan.a_columns = suffix == Suffix::kCol;
            else plan.b_rows = suffix == Suffix::kRow;
            first = false;
        }
    plan.finite = instruction.has(Suffix::kSatfinite);
    plan.bitwise_and = instruction.has(Suffix::kAnd);
    if (!known_types(plan) || !known_operands(plan, instruction, wmma)) return {};
    return {wmma ? multiply<true> : multiply<false>, plan.word()};
}

Fragment wmma_fragment(const ptx::Instruction& instruction) {
    Plan plan;
    plan.shape = shape_of(instruction);
    const Matrix matrix = instruction.has(Suffix::kA) ? Matrix::kA : instruction.has(Suffix::kB) ? Matrix::kB : Matrix::kC;
    const bool is_wmma = instruction.opcode == Opcode::kWmmaLoad || instruction.opcode == Opcode::kWmmaStore;
    if (!is_wmma || plan.shape.m == 0 || element_bits(instruction.types[0]) == 0) return {};
    return plan.fragment(matrix, instruction.types[0], matrix != Matrix::kC && instruction.types[0] == Type::kF16 ? kWmmaHalfRegisters : 0);
}

Position matrix_position(unsigned lane, unsigned index, bool transposed) {
    const unsigned row = lane / 4, column = lane % 4 * 2 + index;
    return transposed ? Position{column, row} : Position{row, column};
}

}  // namespace lanescope::exec
