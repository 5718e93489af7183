// atom and red, of all types and widths. Lanes take their turns in order.
#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/decoder.h"
#include "exec/half.h"
#include "exec/run.h"
#include "exec/sites.h"

namespace lanescope::exec {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Suffix;
using ptx::Type;

/// The new value of a place that holds `old`; `compare` is of cas only.
using Update = uint64_t (*)(uint64_t old, uint64_t operand, uint64_t compare);

struct AtomicPlan {
    MemoryPlan memory;
    Update update = nullptr;
    uint8_t element_bytes = 4, vector = 1;
    bool result = false;             // rows[0…vector) take the old values
    bool compare_and_swap = false;   // rows behind the operands are the new values
    bool combined = false;           // AccessSite::uniform_reduction
    uint32_t weight = 1;             // as a poll
    unsigned destination_bits = 32, operand_bits = 32;
};

template <class T>
T as(uint64_t bits) {
    if constexpr (std::is_integral_v<T>) return T(bits);
    else if constexpr (sizeof(T) == 4) return std::bit_cast<T>(uint32_t(bits));
    else return std::bit_cast<T>(bits);
}
template <class T>
uint64_t bits_from(T value) {
    if constexpr (std::is_integral_v<T>) return uint64_t(std::make_unsigned_t<T>(value));
    else if constexpr (sizeof(T) == 4) return std::bit_cast<uint32_t>(value);
    else return std::bit_cast<uint64_t>(value);
}

template <class T> uint64_t add(uint64_t old, uint64_t operand, uint64_t) { return bits_from<T>(T(as<T>(old) + as<T>(operand))); }
template <class T> uint64_t least(uint64_t old, uint64_t operand, uint64_t) { return bits_from<T>(std::min(as<T>(old), as<T>(operand))); }
template <class T> uint64_t most(uint64_t old, uint64_t operand, uint64_t) { return bits_from<T>(std::max(as<T>(old), as<T>(operand))); }
uint64_t bit_and(uint64_t old, uint64_t operand, uint64_t) { return old & operand; }
uint64_t bit_or(uint64_t old, uint64_t operand, uint64_t) { return old | operand; }
uint64_t bit_xor(uint64_t old, uint64_t operand, uint64_t) { return old ^ operand; }
uint64_t exchange(uint64_t, uint64_t operand, uint64_t) { return operand; }
uint64_t swap_if(uint64_t old, uint64_t operand, uint64_t compare) { return old == compare ? operand : old; }
uint64_t increment(uint64_t old, uint64_t operand, uint64_t) { return old >= operand ? 0 : old + 1; }
uint64_t decrement(uint64_t old, uint64_t operand, uint64_t) { return old == 0 || old > operand ? operand : old - 1; }

float flush(float value) { return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value; }
/// Global memory: subnormals are zero, before and after.
uint64_t add_float_flushed(uint64_t old, uint64_t operand, uint64_t) { return bits_from(flush(flush(as<float>(old)) + flush(as<float>(operand)))); }

uint16_t half_of(float value) { return float_to_half(value).bits; }
uint16_t bfloat_of(float value) { return float_to_bfloat(value).bits; }
float from_half(uint64_t bits) { return half_to_float(Half{uint16_t(bits)}); }
float from_bfloat(uint64_t bits) { return bfloat_to_float(Bfloat{uint16_t(bits)}); }
float sum(float a, float b) { return a + b; }
float lesser(float a, float b) { return std::isnan(a) ? b : std::isnan(b) ? a : a < b || (a == b && std::signbit(a)) ? a : b; }
float greater(float a, float b) { return std::isnan(a) ? b : std::isnan(b) ? a : a > b || (a == b && std::signbit(b)) ? a : b; }

template <float (*kFrom)(uint64_t), uint16_t (*kTo)(float), float (*kOperation)(float, float), unsigned kParts>
uint64_t small_float(uint64_t old, uint64_t operand, uint64_t) {
    uint64_t result = 0;
    for (unsigned part = 0; part < kParts; ++part)
        result |= uint64_t(kTo(kOperation(kFrom(old >> (16 * part) & 0xffff), kFrom(operand >> (16 * part) & 0xffff)))) << (16 * part);
    return result;
}
template <float (*kOperation)(float, float)>
Update small_float_update(Type type) {
    switch (type) {
        case Type::kF16: return small_float<from_half, half_of, kOperation, 1>;
        case Type::kF16x2: return small_float<from_half, half_of, kOperation, 2>;
        case Type::kBf16: return small_float<from_bfloat, bfloat_of, kOperation, 1>;
        case Type::kBf16x2: return small_float<from_bfloat, bfloat_of, kOperation, 2>;
        default: return nullptr;
    }
}

Update update_of(Suffix operation, Type type, bool flushes) {
    switch (operation) {
        case Suffix::kAdd:
            switch (type) {
                case Type::kU32: case Type::kS32: return add<uint32_t>;
                case Type::kU64: case Type::kS64: return add<uint64_t>;
                case Type::kF32: return flushes ? add_float_flushed : add<float>;
                case Type::kF64: return add<double>;
                default: return small_float_update<sum>(type);
            }
        case Suffix::kMin:
            switch (type) {
                case Type::kU32: return least<uint32_t>;
                case Type::kS32: return least<int32_t>;
                case Type::kU64: return least<uint64_t>;
                case Type::kS64: return least<int64_t>;
                default: return small_float_update<lesser>(type);
            }
        case Suffix::kMax:
            switch (type) {
                case Type::kU32: return most<uint32_t>;
                case Type::kS32: return most<int32_t>;
                case Type::kU64: return most<uint64_t>;
                case Type::kS64: return most<int64_t>;
                default: return small_float_update<greater>(type);
            }
        case Suffix::kAnd: return bit_and;
        case Suffix::kOr: return bit_or;
        case Suffix::kXor: return bit_xor;
        case Suffix::kExch: return exchange;
        case Suffix::kCas: return swap_if;
        case Suffix::kInc: return increment;
        case Suffix::kDec: return decrement;
        default: return nullptr;
    }
}

uint64_t read_lane(const void* row, unsigned bits, unsigned lane) {
    switch (row_bytes(bits) / kWarpLanes) {
        case 2: return static_cast<const uint16_t*>(row)[lane];
        case 4: return static_cast<const uint32_t*>(row)[lane];
        default: return static_cast<const uint64_t*>(row)[lane];
    }
}
void write_lane(void* row, unsigned bits, unsigned lane, uint64_t value) {
    switch (row_bytes(bits) / kWarpLanes) {
        case 2: static_cast<uint16_t*>(row)[lane] = uint16_t(value); break;
        case 4: static_cast<uint32_t*>(row)[lane] = uint32_t(value); break;
        default: static_cast<uint64_t*>(row)[lane] = value; break;
    }
}

void update_wide(Run& run, const Step& step, const AtomicPlan& plan, unsigned lane, std::byte* at) {
    struct Wide { uint64_t low, high; } old, value;
    std::memcpy(&old, at, 16);
    const Row* operands = step.rows + (plan.result ? 1 : 0);
    const auto wide = [&](Row row) {
        const auto* halves = run.row<const uint64_t>(row);
        return Wide{halves[lane], halves[kWarpLanes + lane]};
    };
    value = wide(operands[0]);
    if (plan.compare_and_swap) value = old.low == value.low && old.high == value.high ? wide(operands[1]) : old;
    std::memcpy(at, &value, 16);
    if (plan.result && step.rows[0]) {
        auto* to = run.row<uint64_t>(step.rows[0]);
        to[lane] = old.low;
        to[kWarpLanes + lane] = old.high;
    }
}

const Step* update(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const AtomicPlan*>(step.plan);
    const MemoryPlan& memory = plan.memory;
    run.polls += plan.weight;
    Shape shape;
    const int64_t offset = memory.offset;
    if (!memory.base) std::fill_n(run.addresses, kWarpLanes, uint64_t(offset));
    else (memory.base_is_32bit ? run.moves.from_32 : run.moves.from_64)(run.addresses, memory.base.in(run.rows), offset, active, memory.width, shape);

    // Where the lanes' places are; the access is announced for global and shared lanes by themselves.
    std::byte* hosts[kWarpLanes];
    uint32_t shared = 0;
    for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
        const auto lane = unsigned(std::countr_zero(rest));
        uint64_t& address = run.addresses[lane];
        if (address % memory.width != 0) return run.fail_access(FaultKind::kMisaligned, step, lane, address, memory.width, true);
        if (memory.space == ptx::Space::kShared) {
            hosts[lane] = run.shared(step, lane, address, memory.width, true);
            shared |= 1u << lane;
        } else if (memory.space == ptx::Space::kGeneric && address >= kSharedWindow) {
            hosts[lane] = run.generic(step, lane, address, memory.width, true);
            if (address < kLocalWindow) {
                shared |= 1u << lane;
                address -= kSharedWindow;
            }
        } else {
            const CachedRange& range = run.ranges[memory.index];
            if (address - range.begin < range.bytes && memory.width <= range.bytes - (address - range.begin)) {
                hosts[lane] = reinterpret_cast<std::byte*>(address + uint64_t(range.delta));
            } else {
                hosts[lane] = run.global(step, lane, address, memory.width, true);
                if (hosts[lane] != nullptr) {
                    const Allocation& allocation = *run.memory.find(address);
                    run.ranges[memory.index] = {allocation.begin, allocation.bytes, allocation.host_delta};
                }
            }
        }
        if (hosts[lane] == nullptr) return nullptr;
    }
    uint64_t arrival = run.time;
    if (uint32_t lanes = active & ~shared; lanes != 0) {
        if (plan.combined) lanes &= -lanes;  // the first lane issues it for all
        arrival = run.announce(memory.accesses, Space::kGlobal, lanes, run.addresses);
    }
    if (shared != 0) arrival = std::max(arrival, run.announce(memory.accesses, Space::kShared, shared, run.addresses));
    if (plan.result) run.expect(step, arrival);
    if (run.monitor != nullptr) [[unlikely]] {
        if (const uint32_t lanes = active & ~shared; lanes != 0) run.watch(memory, Touch::kUpdate, Space::kGlobal, lanes, run.addresses, memory.width);
        if (shared != 0) run.watch(memory, Touch::kUpdate, Space::kShared, shared, run.addresses, memory.width);
    }

    const unsigned results = plan.result ? plan.vector : 0;
    for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
        const auto lane = unsigned(std::countr_zero(rest));
        if (plan.element_bytes == 16) {
            update_wide(run, step, plan, lane, hosts[lane]);
            continue;
        }
        for (unsigned v = 0; v < plan.vector; ++v) {
            uint64_t old = 0;
            std::memcpy(&old, hosts[lane] + v * plan.element_bytes, plan.element_bytes);
            uint64_t operand = read_lane(run.row<const void>(step.rows[results + v]), plan.operand_bits, lane), compare = 0;
            if (plan.compare_and_swap) {
                compare = operand;
                operand = read_lane(run.row<const void>(step.rows[results + 1]), plan.operand_bits, lane);
            }
            const uint64_t value = plan.update(old, operand, compare);
            std::memcpy(hosts[lane] + v * plan.element_bytes, &value, plan.element_bytes);
            if (plan.result && step.rows[v]) write_lane(run.row<void>(step.rows[v]), plan.destination_bits, lane, old);
        }
    }
    return &step + 1;
}

}  // namespace

bool decode_atomic(Decoder& decoder, const Instruction& instruction) {
    if (instruction.opcode != Opcode::kAtom && instruction.opcode != Opcode::kRed) return false;
    auto* plan = decoder.plan<AtomicPlan>();
    const Type type = instruction.types[0];
    Suffix operation = Suffix::kAdd;
    for (const Suffix suffix : instruction.suffixes) {
        switch (suffix) {
            case Suffix::kAdd: case Suffix::kMin: case Suffix::kMax: case Suffix::kAnd: case Suffix::kOr: case Suffix::kXor: case Suffix::kExch:
            case Suffix::kCas: case Suffix::kInc: case Suffix::kDec: operation = suffix; break;
            default: break;
        }
    }
    plan->result = instruction.opcode == Opcode::kAtom;
    const unsigned first = plan->result ? 1 : 0;
    const Operand& value = instruction.operands[first + 1];
    std::vector<Row> rows;
    if (plan->result) decoder.destinations(instruction.operands[0], rows);
    const size_t results = rows.size();
    decoder.sources(value, type, rows);
    plan->vector = uint8_t(rows.size() - results);
    plan->compare_and_swap = operation == Suffix::kCas;
    if (plan->compare_and_swap) decoder.sources(instruction.operands[first + 2], type, rows);
    plan->element_bytes = uint8_t(std::max(1u, ptx::bits(type) / 8));
    plan->update = update_of(operation, type, instruction.space != ptx::Space::kShared);
    if (plan->result && results != plan->vector) {  // `_`, or not as many results as operands
        if (results != 1 || rows[0]) return decoder.unsupported("these operands"), true;
        plan->result = false;
        rows.erase(rows.begin());
    }
    const auto bits_of_rows = [&](const Operand& operand) {
        unsigned bits = decoder.register_bits(operand);
        for (const Operand& element : operand.elements) bits = std::max(bits, decoder.register_bits(element));
        return bits != 0 ? bits : ptx::bits(type);
    };
    plan->operand_bits = bits_of_rows(value);
    if (plan->result) plan->destination_bits = bits_of_rows(instruction.operands[0]);
    if (plan->update == nullptr || plan->vector > 8) return decoder.unsupported(), true;

    MemoryPlan& memory = plan->memory;
    memory = decoder.memory_plan();
    memory.ordering = ordering_of(instruction);
    memory.ordering.strong = true;
    memory.atomic = true;
    memory.space = instruction.space;
    memory.store = true;
    memory.width = uint8_t(plan->element_bytes * plan->vector);
    decoder.address(instruction.operands[first], memory);
    const bool waits = operation == Suffix::kCas || operation == Suffix::kExch;
    plan->weight = waits ? kPollWeight : plan->result ? 1 : 0;

    const uint32_t all = plan->vector >= 32 ? UINT32_MAX : (1u << plan->vector) - 1;
    const bool unused = !plan->result || (decoder.dead() & all) == all;
    // Pairs of halves at a generic address (atomicAdd of a __half2) answer whether that was in shared memory: ATOM, result or not (recorded).
    const bool answers = waits || (instruction.space == ptx::Space::kGeneric && (type == Type::kF16x2 || type == Type::kBf16x2));
    AccessSite site = site_of(instruction, unused && !answers && instruction.space != ptx::Space::kShared ? Operation::kReduction : Operation::kAtomic);
    site.cache = CacheOperator::kDefault;  // atomics happen in L2, whatever their order and scope
    site.bytes = memory.width;
    site.compare_and_swap = plan->compare_and_swap;
    site.uniform_reduction = instruction.space != ptx::Space::kShared && decoder.lowering().reduces_in_warp(instruction, unused);
    plan->combined = site.uniform_reduction;
    const ptx::Operand& addend = instruction.operands[first + 1];
    site.increment = unused && instruction.space == ptx::Space::kShared && operation == Suffix::kAdd && plan->element_bytes == 4 && plan->vector == 1 &&
                     addend.kind == ptx::Operand::Kind::kImmediate && addend.value == 1;
    memory.accesses.push_back({decoder.add_site(site), 0, site.bytes, decoder.policy(instruction)});
    decoder.emit(update, std::move(rows), kOrdered).plan = plan;
    return true;
}

}  // namespace lanescope::exec
