// Calls: of functions, and of those that the driver provides (vprintf, malloc, free, __assertfail, launches from the device); parameters and
// return values.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "exec/async.h"
#include "exec/decoder.h"
#include "exec/printf.h"
#include "exec/run.h"

namespace lanescope::exec {
namespace {

using ptx::Instruction;
using ptx::kNone;
using ptx::Opcode;
using ptx::Operand;

using ptx::Type;

/// An argument or return value at the caller: words of a .param variable, or a register's (or constant's) row.
struct Place {
    Row row;
    uint32_t bytes = 0;             // of the value; of the row if it is a register
    bool is_register = false;
};

enum class Provided : uint8_t { kNothing, kPrintf, kMalloc, kFree, kAssertFail, kLaunchParameters, kLaunch, kLastError, kPeekError, kNewHandle, kSuccess };

struct CallPlan {
    uint32_t function = kNone;
    Row pointer;                    // indirect calls
    Provided provided = Provided::kNothing;
    std::vector<Place> arguments, returns;
    const MemoryPlan* watched = nullptr;        // what a provided function writes
};

void copy_words(std::byte* to, const std::byte* from, uint32_t words, uint32_t mask) {
    if (mask == kFullMask) {
        std::memcpy(to, from, size_t(words) * kWordRow);
        return;
    }
    for (uint32_t w = 0; w < words; ++w)
        each_lane_of(mask, [&](unsigned lane) { std::memcpy(to + w * kWordRow + lane * 4, from + w * kWordRow + lane * 4, 4); });
}

void copy_row(void* to, const void* from, uint32_t bytes, uint32_t mask) {
    if (bytes == 4) {
        uint32_t old, value;
        std::memcpy(&old, to, 4);
        std::memcpy(&value, from, 4);
        value = (old & ~mask) | (value & mask);
        std::memcpy(to, &value, 4);
        return;
    }
    const uint32_t element = std::min(bytes / kWarpLanes, 8u);
    for (uint32_t part = 0; part < bytes; part += element * kWarpLanes)
        each_lane_of(mask, [&](unsigned lane) {
            std::memcpy(static_cast<std::byte*>(to) + part + lane * element, static_cast<const std::byte*>(from) + part + lane * element, element);
        });
}

void copy_place(void* to, const void* from, uint32_t bytes, bool is_register, uint32_t mask) {
    if (is_register) copy_row(to, from, bytes, mask);
    else copy_words(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), (bytes + 3) / 4, mask);
}

const Step* call_function(Run& run, const Step& step, const CallPlan& plan, uint32_t function, uint32_t active) {
    const auto it = run.code.functions.find(function);
    if (it == run.code.functions.end()) {
        const bool exists = function < run.module.functions.size();
        return run.fail(exists ? FaultKind::kUnsupported : FaultKind::kIllegal, step, unsigned(std::countr_zero(active)),
                        exists ? fmt::format("call of {}, which is neither defined nor provided by lanescope", run.module.functions[function].name)
                               : "call of an address that is no function");
    }
    constexpr uint32_t kLeastBytes = 16;  // of a call: machine code keeps the return address at least, so that no recursion is endless
    const FunctionCode& code = *it->second;
    Frame* caller = run.frame;
    const uint32_t base = (caller->local_top + 15) / 16 * 16, bytes = std::max(code.local_bytes, kLeastBytes);
    if (!run.reserve_local(base + bytes, step)) return nullptr;
    Frame* callee = run.new_frame(code);
    callee->caller = caller;
    callee->call = &step;
    callee->lanes = active;
    callee->local_base = base;
    callee->local_top = base + bytes;
    for (size_t i = 0; i < code.parameters.size() && i < plan.arguments.size(); ++i) {
        const FunctionCode::ParamVariable& formal = code.parameters[i];
        const Place& argument = plan.arguments[i];
        if (formal.bytes == 0 || formal.is_register != argument.is_register) continue;
        copy_place(callee->rows + formal.offset, argument.row.in(caller->rows), std::min(formal.bytes, argument.bytes), formal.is_register, active);
    }
    Split& split = run.current();
    split.join = run.new_join(&step, caller, run.mask, split.join);
    split.join->arrived = run.mask & ~active;
    split.mask = active;
    split.frame = callee;
    run.frame = callee;
    run.rows = callee->rows;
    run.set_mask(active);
    return code.steps.data();
}

uint64_t argument(const Run& run, const CallPlan& plan, size_t i, unsigned lane) {
    if (i >= plan.arguments.size()) return 0;
    const Place& place = plan.arguments[i];
    const auto* words = static_cast<const std::byte*>(place.row.in(run.rows));
    uint64_t value = 0;
    if (place.is_register) {
        std::memcpy(&value, words + lane * (place.bytes / kWarpLanes), place.bytes / kWarpLanes);
    } else {
        uint32_t low = 0, high = 0;
        std::memcpy(&low, words + lane * 4, 4);
        if (place.bytes > 4) std::memcpy(&high, words + kWordRow + lane * 4, 4);
        value = uint64_t(high) << 32 | low;
    }
    return value;
}

void give_back(const Run& run, const CallPlan& plan, unsigned lane, uint64_t value) {
    if (plan.returns.empty()) return;
    const Place& place = plan.returns[0];
    auto* words = static_cast<std::byte*>(place.row.in(run.rows));
    if (words == nullptr) return;
    if (place.is_register) {
        std::memcpy(words + lane * (place.bytes / kWarpLanes), &value, place.bytes / kWarpLanes);
    } else {
        std::memcpy(words + lane * 4, &value, 4);
        const uint32_t high = uint32_t(value >> 32);
        if (place.bytes > 4) std::memcpy(words + kWordRow + lane * 4, &high, 4);
    }
}

const Step* print(Run& run, const Step& step, const CallPlan& plan, uint32_t active) {
    for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
        const auto lane = unsigned(std::countr_zero(rest));
        const std::string format = run.text_at(step, lane, argument(run, plan, 0, lane));
        if (run.stopped) return nullptr;
        const uint64_t arguments = argument(run, plan, 1, lane);
        const PrintArguments read = {
            [&](uint32_t offset, uint32_t bytes) {
                uint64_t value = 0;
                const std::byte* from = run.generic(step, lane, arguments + offset, bytes, false);
                if (from != nullptr) std::memcpy(&value, from, bytes);
                return value;
            },
            [&](uint64_t address) { return address == 0 ? std::string("(null)") : run.text_at(step, lane, address); },
        };
        int count = 0;
        const std::string text = format_print(format, read, count);
        if (run.stopped) return nullptr;
        if (run.sinks.print) run.sinks.print(text);
        give_back(run, plan, lane, uint32_t(count));
    }
    return &step + 1;
}

const Step* allocate(Run& run, const Step& step, const CallPlan& plan, uint32_t active) {
    each_lane_of(active, [&](unsigned lane) {
        const uint64_t bytes = argument(run, plan, 0, lane);
        uint64_t address = 0;
        if (DeviceHeap* heap = run.sinks.heap; heap != nullptr && bytes != 0 && bytes <= heap->limit - std::min(heap->limit, heap->used))
            if (const Allocation* made = run.memory.allocate(bytes, Region::kHeap, "device malloc")) {
                heap->used += bytes;
                address = made->begin;
            }
        give_back(run, plan, lane, address);
    });
    return &step + 1;
}

const Step* release(Run& run, const Step& step, const CallPlan& plan, uint32_t active) {
    for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
        const auto lane = unsigned(std::countr_zero(rest));
        const uint64_t address = argument(run, plan, 0, lane);
        if (address == 0) continue;
        const Allocation* old = run.memory.find(address);
        if (old == nullptr || old->begin != address || old->region != Region::kHeap)
            return run.fail(FaultKind::kIllegal, step, lane, fmt::format("free of {:#x}, which device malloc did not return or which was freed before", address));
        if (run.sinks.heap != nullptr) run.sinks.heap->used -= std::min(run.sinks.heap->used, old->bytes);
        run.memory.release(address);
        std::fill(run.ranges.begin(), run.ranges.end(), CachedRange{});
    }
    return &step + 1;
}

const Step* fail_assert(Run& run, const Step& step, const CallPlan& plan, uint32_t active) {
    std::string first;
    for (uint32_t rest = active; rest != 0 && !run.stopped; rest &= rest - 1) {
        const auto lane = unsigned(std::countr_zero(rest));
        const std::string expression = run.text_at(step, lane, argument(run, plan, 0, lane));
        const std::string file = run.text_at(step, lane, argument(run, plan, 1, lane));
        const std::string function = run.text_at(step, lane, argument(run, plan, 3, lane));
        if (run.stopped) return nullptr;
        const Dim3 thread = run.thread_of(lane);
        // The text that CUDA writes to standard error.
        const std::string text =
            fmt::format("{}:{}: {}: block: [{},{},{}], thread: [{},{},{}] Assertion `{}` failed.\n", file, uint32_t(argument(run, plan, 2, lane)), function,
                        run.block->id.x, run.block->id.y, run.block->id.z, thread.x, thread.y, thread.z, expression);
        if (run.sinks.error) run.sinks.error(text);
        if (first.empty()) first = fmt::format("assertion `{}` failed", expression);
    }
    return run.fail(FaultKind::kAssert, step, unsigned(std::countr_zero(active)), first);
}

// --- dynamic parallelism: a buffer for the parameters, which the kernel fills, then the launch

Dim3 dim3_argument(const Run& run, const CallPlan& plan, size_t i, unsigned lane) {
    uint32_t words[3] = {};
    for (unsigned w = 0; w < 3; ++w) std::memcpy(&words[w], static_cast<const std::byte*>(plan.arguments[i].row.in(run.rows)) + w * kWordRow + lane * 4, 4);
    return {words[0], words[1], words[2]};
}

const Step* prepare_launch(Run& run, const Step& step, const CallPlan& plan, uint32_t active) {
    for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
        const auto lane = unsigned(std::countr_zero(rest));
        const uint32_t function = Program::function_at(argument(run, plan, 0, lane));
        if (run.sinks.launches == nullptr) return run.fail(FaultKind::kUnsupported, step, lane, "a launch from the device");
        if (plan.arguments.size() < 4 || plan.arguments[1].bytes < 12 || plan.arguments[2].bytes < 12 || function >= run.module.functions.size() ||
            !run.module.functions[function].entry || !run.module.functions[function].defined)
            return run.fail(FaultKind::kIllegal, step, lane, "a launch from the device of what is no kernel");
        const Allocation* made = run.memory.allocate(std::max(8u, parameter_bytes(run.module.functions[function])), Region::kHeap, "parameters of a launch from the device");
        if (made != nullptr)
            run.sinks.launches->prepared[made->begin] = {.function = function, .grid = dim3_argument(run, plan, 1, lane), .block = dim3_argument(run, plan, 2, lane),
                                                         .dynamic_shared_bytes = uint32_t(argument(run, plan, 3, lane)), .parameters = made->begin};
        give_back(run, plan, lane, made != nullptr ? made->begin : 0);
    }
    return &step + 1;
}

/// A number for each thread of the grid.
uint64_t thread_number(const Run& run, unsigned lane) {
    return (run.block->index * run.block->warps.size() + run.warp->index) * kWarpLanes + lane;
}

const Step* launch(Run& run, const Step& step, const CallPlan& plan, uint32_t active) {
    constexpr uint64_t kTailStream = 3;          // cudaStreamTailLaunch
    constexpr uint32_t kInvalidConfiguration = 9;
    for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
        const auto lane = unsigned(std::countr_zero(rest));
        if (run.sinks.launches == nullptr) return run.fail(FaultKind::kUnsupported, step, lane, "a launch from the device");
        auto prepared = run.sinks.launches->prepared.extract(argument(run, plan, 0, lane));
        if (prepared.empty()) return run.fail(FaultKind::kIllegal, step, lane, "a launch from the device without its parameters' buffer");
        DeviceLaunch& what = prepared.mapped();
        const bool fits = what.grid.count() != 0 && what.block.count() != 0 && what.block.count() <= 1024 && what.block.z <= 64 && what.grid.x <= INT32_MAX &&
            what.grid.y <= 65535 && what.grid.z <= 65535;
        what.tail = argument(run, plan, 1, lane) == kTailStream;
        if (fits) run.sinks.launches->launched.push_back(what);
        else run.memory.release(what.parameters), run.sinks.launches->errors[thread_number(run, lane)] = kInvalidConfiguration;
        give_back(run, plan, lane, fits ? 0 : kInvalidConfiguration);
    }
    return &step + 1;
}

const Step* tell_error(Run& run, const Step& step, const CallPlan& plan, uint32_t active) {
    each_lane_of(active, [&](unsigned lane) {
        uint32_t error = 0;
        if (run.sinks.launches != nullptr)
            if (const auto known = run.sinks.launches->errors.find(thread_number(run, lane)); known != run.sinks.launches->errors.end()) {
                error = known->second;
                if (plan.provided == Provided::kLastError) run.sinks.launches->errors.erase(known);
            }
        give_back(run, plan, lane, error);
    });
    return &step + 1;
}

/// Streams and events of the device's: launches run in the order in which they come, whatever their streams.
const Step* make_handle(Run& run, const Step& step, const CallPlan& plan, uint32_t active) {
    constexpr uint64_t kHandle = 0x100;
    for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
        const auto lane = unsigned(std::countr_zero(rest));
        std::byte* to = run.generic(step, lane, argument(run, plan, 0, lane), 8, true);
        if (to == nullptr) return nullptr;
        std::memcpy(to, &kHandle, 8);
        if (run.monitor != nullptr) {
            const uint64_t address = argument(run, plan, 0, lane);
            const bool local = address >= kLocalWindow && address < kParamWindow;
            run.shifted[lane] = local ? address - kLocalWindow : in_shared(address);
            run.watch(*plan.watched, Touch::kWrite, local ? Space::kLocal : run.shifted[lane] != address ? Space::kShared : Space::kGlobal, 1u << lane, run.shifted, 8);
        }
        give_back(run, plan, lane, 0);
    }
    return &step + 1;
}

const Step* succeed(Run& run, const Step& step, const CallPlan& plan, uint32_t active) {
    each_lane_of(active, [&](unsigned lane) { give_back(run, plan, lane, 0); });
    return &step + 1;
}

const Step* call(Run& run, const Step& step, uint32_t active) {
    if (active == 0) return &step + 1;
    const auto& plan = *static_cast<const CallPlan*>(step.plan);
    switch (plan.provided) {
        case Provided::kPrintf: return print(run, step, plan, active);
        case Provided::kMalloc: return allocate(run, step, plan, active);
        case Provided::kFree: return release(run, step, plan, active);
        case Provided::kAssertFail: return fail_assert(run, step, plan, active);
        case Provided::kLaunchParameters: return prepare_launch(run, step, plan, active);
        case Provided::kLaunch: return launch(run, step, plan, active);
        case Provided::kLastError:
        case Provided::kPeekError: return tell_error(run, step, plan, active);
        case Provided::kNewHandle: return make_handle(run, step, plan, active);
        case Provided::kSuccess: return succeed(run, step, plan, active);
        case Provided::kNothing: break;
    }
    return call_function(run, step, plan, plan.function, active);
}

// Lanes with different pointers call one after the other: the first lane's group, then the step again for the rest.
const Step* call_indirect(Run& run, const Step& step, uint32_t active) {
    if (active == 0) return &step + 1;
    const auto& plan = *static_cast<const CallPlan*>(step.plan);
    const auto* pointer = run.row<const uint64_t>(plan.pointer);
    const uint64_t target = pointer[std::countr_zero(active)];
    uint32_t same = 0;
    each_lane_of(active, [&](unsigned lane) { same |= uint32_t(pointer[lane] == target) << lane; });
    if (same != active) {
        Split& split = run.current();
        // All of them go on together behind the call.
        split.join = run.new_join(&step, run.frame, run.mask, split.join);
        split.join->arrived = run.mask & ~active;
        Split rest = split;
        rest.mask = active & ~same;
        rest.next = &step;
        rest.state = SplitState::kReady;
        split.mask = same;
        run.warp->splits.insert(run.warp->splits.begin() + run.split, rest);
        ++run.split;
        run.set_mask(same);
    }
    return call_function(run, step, plan, Program::function_at(target), same);
}

// --- ld.param and st.param ---

struct ParamPlan {
    uint32_t offset = 0;            // in the parameter buffer, or of the first word's row in the frame
    uint32_t byte = 0;              // within that word
    uint8_t element_bytes = 4, vector = 1;
    bool is_signed = false, dynamic = false, kernel = false, store = false;
    Row base;                       // dynamic addresses: 64-bit .param addresses
    int64_t beyond = 0;             // added to it
    uint32_t register_bits[8] = {};
};

void put(void* row, unsigned bits, unsigned lane, uint64_t value) {
    switch (row_bytes(bits) / kWarpLanes) {
        case 2: static_cast<uint16_t*>(row)[lane] = uint16_t(value); break;
        case 4: static_cast<uint32_t*>(row)[lane] = uint32_t(value); break;
        default: static_cast<uint64_t*>(row)[lane] = value; break;
    }
}

uint64_t get(const void* row, unsigned bits, unsigned lane) {
    switch (row_bytes(bits) / kWarpLanes) {
        case 2: return static_cast<const uint16_t*>(row)[lane];
        case 4: return static_cast<const uint32_t*>(row)[lane];
        default: return static_cast<const uint64_t*>(row)[lane];
    }
}

uint64_t extend(uint64_t value, unsigned bytes, bool is_signed) {
    if (bytes == 8) return value;
    const unsigned shift = 64 - 8 * bytes;
    return is_signed ? uint64_t(int64_t(value << shift) >> shift) : value << shift >> shift;
}

template <class T>
void fill_row(void* row, uint64_t value, uint32_t mask) {
    auto* to = static_cast<T*>(row);
    const T element = T(value);
    if (mask == kFullMask)
        for (unsigned lane = 0; lane < kWarpLanes; ++lane) to[lane] = element;
    else
        each_lane_of(mask, [&](unsigned lane) { to[lane] = element; });
}

const Step* load_kernel_parameter(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const ParamPlan*>(step.plan);
    const auto parameters = run.launch.parameters;
    if (plan.dynamic) {
        const auto* base = run.row<const uint64_t>(plan.base);
        for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
            const auto lane = unsigned(std::countr_zero(rest));
            const uint64_t address = base[lane] + uint64_t(plan.beyond);
            const uint32_t bytes = plan.element_bytes * plan.vector;
            if (address > parameters.size() || bytes > parameters.size() - address)
                return run.fail_access(FaultKind::kOutOfBounds, step, lane, address, bytes, false);
            for (unsigned v = 0; v < plan.vector; ++v) {
                if (!step.rows[v]) continue;
                uint64_t value = 0;
                std::memcpy(&value, parameters.data() + address + v * plan.element_bytes, plan.element_bytes);
                put(run.row<void>(step.rows[v]), plan.register_bits[v], lane, extend(value, plan.element_bytes, plan.is_signed));
            }
        }
        return &step + 1;
    }
    for (unsigned v = 0; v < plan.vector; ++v) {
        if (!step.rows[v]) continue;
        const size_t offset = plan.offset + size_t(v) * plan.element_bytes;
        uint64_t value = 0;
        if (offset + plan.element_bytes <= parameters.size()) std::memcpy(&value, parameters.data() + offset, plan.element_bytes);
        value = extend(value, plan.element_bytes, plan.is_signed);
        void* row = run.row<void>(step.rows[v]);
        switch (row_bytes(plan.register_bits[v]) / kWarpLanes) {
            case 2: fill_row<uint16_t>(row, value, active); break;
            case 4: fill_row<uint32_t>(row, value, active); break;
            default: fill_row<uint64_t>(row, value, active); break;
        }
    }
    return &step + 1;
}

// A function's parameters: words in the frame.
const Step* access_parameter(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const ParamPlan*>(step.plan);
    const auto* base = plan.dynamic ? run.row<const uint64_t>(plan.base) : nullptr;
    bool outside = false;
    for (unsigned v = 0; v < plan.vector; ++v) {
        if (!step.rows[v]) continue;
        void* row = run.row<void>(step.rows[v]);
        const unsigned bits = plan.register_bits[v];
        if (base == nullptr && plan.element_bytes == 4 && bits == 32) {
            std::byte* word = run.rows + plan.offset + size_t(v) * kWordRow;
            if (plan.store) copy_words(word, static_cast<const std::byte*>(row), 1, active);
            else copy_words(static_cast<std::byte*>(row), word, 1, active);
            continue;
        }
        each_lane_of(active, [&](unsigned lane) {
            uint64_t at = uint64_t(plan.offset) / kWordRow * 4 + plan.byte + v * plan.element_bytes;
            if (base != nullptr) {
                at += base[lane] + uint64_t(plan.beyond);
                if (at > run.frame->code->frame_bytes / kWarpLanes - 8) return void(outside = true);
            }
            std::byte* pieces[2];
            const unsigned piece_bytes = std::min<unsigned>(plan.element_bytes, 4), count = plan.element_bytes > 4 ? 2 : 1;
            for (unsigned p = 0; p < count; ++p) pieces[p] = run.rows + (at / 4 + p) * kWordRow + lane * 4 + at % 4;
            uint64_t value = plan.store ? get(row, bits, lane) : 0;
            for (unsigned p = 0; p < count; ++p) {
                if (plan.store) std::memcpy(pieces[p], reinterpret_cast<const std::byte*>(&value) + 4 * p, piece_bytes);
                else std::memcpy(reinterpret_cast<std::byte*>(&value) + 4 * p, pieces[p], piece_bytes);
            }
            if (!plan.store) put(row, bits, lane, extend(value, plan.element_bytes, plan.is_signed));
        });
    }
    if (outside) return run.fail(FaultKind::kOutOfBounds, step, unsigned(std::countr_zero(active)), "a parameter is accessed outside the function's parameters");
    return &step + 1;
}

Place place_of(Decoder& decoder, const Operand& operand, bool written) {
    if (operand.kind == Operand::Kind::kVariable && operand.local_symbol) {
        const Decoder::ParamPlace place = decoder.param_place(operand.index);
        return {Row::in_frame(place.offset), place.bytes, false};
    }
    if (written) return {decoder.destination(operand), row_bytes(decoder.register_bits(operand)), true};
    const unsigned bits = operand.kind == Operand::Kind::kRegister ? decoder.register_bits(operand) : 32;
    return {decoder.source(operand, bits == 64 ? Type::kB64 : Type::kB32), row_bytes(bits), true};
}

Provided provided_by_driver(const ptx::Function& function) {
    if (function.defined) return Provided::kNothing;
    std::string_view name = function.name;
    if (name == "vprintf") return Provided::kPrintf;
    if (name == "malloc") return Provided::kMalloc;
    if (name == "free") return Provided::kFree;
    if (name == "__assertfail") return Provided::kAssertFail;
    // The device runtime: names of CUDA 12 and later, and before.
    if (name.starts_with("__cudaCDP2")) name.remove_prefix(std::string_view("__cudaCDP2").size());
    else if (name.starts_with("cuda")) name.remove_prefix(std::string_view("cuda").size());
    else return Provided::kNothing;
    if (name.ends_with("_ptsz")) name.remove_suffix(std::string_view("_ptsz").size());
    if (name == "GetParameterBufferV2") return Provided::kLaunchParameters;
    if (name == "LaunchDeviceV2") return Provided::kLaunch;
    if (name == "StreamCreateWithFlags" || name == "EventCreateWithFlags") return Provided::kNewHandle;
    if (name == "GetLastError") return Provided::kLastError;
    if (name == "PeekAtLastError") return Provided::kPeekError;
    for (const char* answered : {"StreamDestroy", "StreamWaitEvent", "EventRecord", "EventDestroy"})
        if (name == answered) return Provided::kSuccess;
    return Provided::kNothing;
}

}  // namespace

void Run::copy_returns(const Step& call_step, const Frame& callee, const Frame& caller, uint32_t returning) const {
    const auto& plan = *static_cast<const CallPlan*>(call_step.plan);
    for (size_t i = 0; i < callee.code->returns.size() && i < plan.returns.size(); ++i) {
        const FunctionCode::ParamVariable& value = callee.code->returns[i];
        void* to = plan.returns[i].row.in(caller.rows);
        if (to == nullptr || value.bytes == 0 || value.is_register != plan.returns[i].is_register) continue;
        copy_place(to, callee.rows + value.offset, std::min(value.bytes, plan.returns[i].bytes), value.is_register, returning);
    }
}

bool decode_call(Decoder& decoder, const Instruction& instruction) {
    if (instruction.opcode != Opcode::kCall) return false;
    auto* plan = decoder.plan<CallPlan>();
    bool target_seen = false;
    for (const Operand& operand : instruction.operands) {
        if (operand.kind == Operand::Kind::kList) {
            for (const Operand& element : operand.elements)
                (target_seen ? plan->arguments : plan->returns).push_back(place_of(decoder, element, !target_seen));
        } else if (!target_seen) {
            target_seen = true;
            if (operand.kind == Operand::Kind::kFunction) {
                plan->function = operand.index;
                plan->provided = provided_by_driver(decoder.module().functions[operand.index]);
                if (plan->provided == Provided::kNewHandle) plan->watched = &decoder.memory_plan();
                decoder.reach(operand.index);
            } else {
                plan->pointer = decoder.source(operand, Type::kU64);
                decoder.reach_any();
            }
        }
    }
    decoder.emit(plan->pointer ? call_indirect : call, {}, kControl | kOrdered).plan = plan;
    return true;
}

bool decode_param(Decoder& decoder, const Instruction& instruction) {
    const bool store = instruction.opcode == Opcode::kSt;
    if ((instruction.opcode != Opcode::kLd && !store) || instruction.space != ptx::Space::kParam) return false;
    auto* plan = decoder.plan<ParamPlan>();
    const Type type = instruction.types[0];
    plan->element_bytes = uint8_t(std::max(1u, ptx::bits(type) / 8));
    plan->is_signed = type == Type::kS8 || type == Type::kS16 || type == Type::kS32 || type == Type::kS64;
    plan->store = store;
    const Operand& address = instruction.operands[store ? 0 : 1];
    const Operand& value = instruction.operands[store ? 1 : 0];
    std::vector<Row> rows;
    if (store) decoder.sources(value, type, rows);
    else decoder.destinations(value, rows);
    if (rows.size() > 8 || plan->element_bytes > 8) return decoder.unsupported("this width"), true;
    plan->vector = uint8_t(rows.size());
    for (unsigned v = 0; v < rows.size(); ++v) {
        const Operand& element = value.kind == Operand::Kind::kVector && v < value.elements.size() ? value.elements[v] : value;
        const unsigned bits = decoder.register_bits(element);
        plan->register_bits[v] = bits != 0 ? bits : ptx::bits(type);
    }
    const Operand& base = address.elements[0];
    plan->kernel = decoder.function().entry && !store;
    if (base.kind == Operand::Kind::kVariable && base.local_symbol) {
        const Decoder::ParamPlace place = decoder.param_place(base.index);
        plan->kernel = place.kernel;
        const auto at = uint32_t(address.value + base.value);
        if (address.value + base.value < 0 || uint64_t(at) + plan->element_bytes * plan->vector > place.bytes) return decoder.unsupported("outside the parameter"), true;
        plan->offset = place.kernel ? place.offset + at : place.offset + at / 4 * kWordRow;
        plan->byte = at % 4;
    } else if (base.kind == Operand::Kind::kRegister) {
        plan->dynamic = true;
        plan->base = decoder.source(base, Type::kU64);
        plan->beyond = address.value;
    } else {
        return decoder.unsupported("this address"), true;
    }
    decoder.emit(plan->kernel ? load_kernel_parameter : access_parameter, std::move(rows)).plan = plan;
    return true;
}

}  // namespace lanescope::exec
