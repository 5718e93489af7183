// Copies of boxes of tensors by the copy engine, in tile mode: cp.async.bulk.tensor. Elements outside of the tensor are filled when read,
// left out when written; every element of the box counts as a byte that the mbarrier waits for.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/async.h"
#include "exec/sites.h"
#include "exec/tensor_map.h"

namespace lanescope::exec {
namespace {

using ptx::Opcode;
using ptx::Suffix;
using ptx::Type;

struct TensorPlan {
    enum class Kind : uint8_t { kLoad, kStore, kPrefetch } kind = Kind::kLoad;
    Address map, shared, barrier;
    std::vector<Row> coordinates;         ///< of the first element of the box, innermost dimension first
    bool completes_barrier = false;
    const MemoryPlan* watched = nullptr;
    std::vector<Access> accesses;
};

constexpr uint32_t kMapBytes = 128;

/// The map that a lane names, in global, constant or parameter memory; nullptr: it faulted.
const TensorMap* map_of(Run& run, const Step& step, unsigned lane, uint64_t address, TensorMap& map) {
    const std::byte* bytes = nullptr;
    if (address % 64 != 0 && address < kParamWindow) return run.fail_access(FaultKind::kMisaligned, step, lane, address, 64, false), nullptr;
    if (address >= kParamWindow && address - kParamWindow + kMapBytes <= run.launch.parameters.size()) bytes = run.launch.parameters.data() + (address - kParamWindow);
    else bytes = run.global(step, lane, address, kMapBytes, false);
    if (bytes == nullptr) return nullptr;
    std::memcpy(static_cast<void*>(&map), bytes, sizeof map);
    if (map.magic == TensorMap::kMagic && map.rank >= 1 && map.rank <= TensorMap::kMaxRank) return &map;
    run.fail(FaultKind::kIllegal, step, lane, "the bytes at this address are no tensor map that cuTensorMapEncodeTiled has made");
    return nullptr;
}

/// The walk over a box: rows of the innermost dimension in the order in which they lie in shared memory.
struct Box {
    const TensorMap& map;
    int64_t first[TensorMap::kMaxRank]{};
    uint32_t index[TensorMap::kMaxRank]{};

    uint32_t row_bytes() const { return uint32_t(map.box[0]) * map.element_bytes; }
    uint64_t rows() const {
        uint64_t n = 1;
        for (unsigned d = 1; d < map.rank; ++d) n *= map.copied(d);
        return n;
    }
    /// The row's first element as if the tensor had no edges; false: the row lies outside.
    bool row(uint64_t& address) const {
        address = map.address + uint64_t(first[0]) * map.element_bytes;
        for (unsigned d = 1; d < map.rank; ++d) {
            const int64_t at = first[d] + int64_t(index[d]) * map.steps[d];
            if (at < 0 || at > int64_t(map.last[d])) return false;
            address += uint64_t(at) * map.strides[d - 1];
        }
        return true;
    }
    /// Bytes of a row that lie inside: [begin, end).
    void inside(uint32_t& begin, uint32_t& end) const {
        const int64_t columns = int64_t(map.last[0]) + 1;
        const auto clamped = [&](int64_t column) { return uint32_t(std::clamp<int64_t>(column - first[0], 0, map.box[0]) * map.element_bytes); };
        begin = clamped(0);
        end = clamped(columns);
    }
    void next() {
        for (unsigned d = 1; d < map.rank; ++d) {
            if (++index[d] < map.copied(d)) return;
            index[d] = 0;
        }
    }
};

const Step* copy_tensor(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const TensorPlan*>(step.plan);
    const bool load = plan.kind == TensorPlan::Kind::kLoad, store = plan.kind == TensorPlan::Kind::kStore;
    for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
        const auto lane = unsigned(std::countr_zero(rest));
        TensorMap map;
        if (map_of(run, step, lane, plan.map.of(run, lane), map) == nullptr) return nullptr;
        if (map.rank != plan.coordinates.size())
            return run.fail(FaultKind::kIllegal, step, lane, fmt::format("the tensor map has {} dimensions, the instruction {}", map.rank, plan.coordinates.size()));
        Box box{map};
        for (unsigned d = 0; d < map.rank; ++d) box.first[d] = run.row<const int32_t>(plan.coordinates[d])[lane];
        // An H200 ends with an illegal instruction here, wherever the box lies.
        if (const int64_t offset = box.first[0] * map.element_bytes; offset % 16 != 0)
            return run.fail(FaultKind::kIllegal, step, lane,
                            fmt::format("the box begins at byte {} of the innermost dimension (coordinate {}), which is no multiple of 16", offset, box.first[0]));
        const uint32_t bytes = box.row_bytes();
        const uint64_t rows = box.rows(), begin_of_tile = in_shared(plan.shared.of(run, lane));
        const auto size = uint32_t(std::min<uint64_t>(rows * bytes, UINT32_MAX));   // up to 8 * 256^5 are asked for
        if ((load || store) && begin_of_tile % 128 != 0) return run.fail_access(FaultKind::kMisaligned, step, lane, begin_of_tile, 128, load);
        std::byte* tile = nullptr;
        if (load || store) {
            tile = run.shared(step, lane, begin_of_tile, size, load);
            if (tile == nullptr) return nullptr;
        }
        uint32_t begin = 0, end = 0;
        box.inside(begin, end);
        EngineTraffic traffic(run, plan.accesses, lane);
        for (uint64_t r = 0; r < rows; ++r, box.next()) {
            const uint64_t place = r * bytes;
            // Swizzling permutes pieces of 16 bytes by their absolute place.
            const auto in_tile = [&](uint64_t offset) { return swizzled(begin_of_tile + place + offset, map.swizzle_bits) - begin_of_tile; };
            uint64_t address = 0;
            const bool inside = box.row(address) && begin < end;
            if (load) {
                // An H200 writes 0x7ff7 in each half of a float.
                const uint16_t outside = map.fill_nan ? 0x7ff7 : 0;
                for (uint32_t done = 0; done < bytes; done += sizeof outside) std::memcpy(tile + in_tile(done), &outside, sizeof outside);
            }
            if (!inside) continue;
            const uint64_t from = address + begin;
            const uint32_t length = end - begin;
            if (load || store) {
                std::byte* global = run.global(step, lane, from, length, store);
                if (global == nullptr) return nullptr;
                for (uint32_t done = begin; done < end;) {
                    const uint32_t piece = std::min(end, done / 16 * 16 + 16) - done;   // what swizzling leaves together
                    std::byte* local = tile + in_tile(done);
                    if (load) std::memcpy(local, global + (done - begin), piece);
                    else std::memcpy(global + (done - begin), local, piece);
                    done += piece;
                }
            }
            if (plan.kind != TensorPlan::Kind::kPrefetch || run.memory.host(from, length) != nullptr) traffic.add(from, length);
            if (load || store) watch_engine(run, *plan.watched, lane, load ? Touch::kRead : Touch::kWrite, false, from, length);
        }
        if (load || store) watch_engine(run, *plan.watched, lane, load ? Touch::kWrite : Touch::kRead, true, begin_of_tile, size);
        if (plan.completes_barrier && !complete_transactions(run, step, lane, in_shared(plan.barrier.of(run, lane)), size, false)) return nullptr;
    }
    return &step + 1;
}

}  // namespace

bool decode_tensor_copy(Decoder& decoder, const ptx::Instruction& instruction) {
    for (const Suffix other : {Suffix::kIm2col, Suffix::kIm2colW, Suffix::kIm2colW128, Suffix::kIm2colNoOffs, Suffix::kMulticastCluster})
        if (instruction.has(other)) return decoder.unsupported("this form"), true;
    auto* plan = decoder.plan<TensorPlan>();
    const auto& operands = instruction.operands;
    const bool prefetch = instruction.opcode == Opcode::kCpAsyncBulkPrefetchTensor;
    // Destination first: a load's is shared memory, a store's the tensor.
    const bool store = !prefetch && operands[0].elements.size() > 1;
    plan->kind = prefetch ? TensorPlan::Kind::kPrefetch : store ? TensorPlan::Kind::kStore : TensorPlan::Kind::kLoad;
    const ptx::Operand& tensor = operands[prefetch || store ? 0 : 1];
    plan->map = address_of(decoder, tensor);
    const ptx::Operand& coordinates = tensor.elements.back();
    for (const ptx::Operand& c : coordinates.elements.empty() ? std::vector<ptx::Operand>{coordinates} : coordinates.elements)
        plan->coordinates.push_back(decoder.source(c, Type::kS32));
    if (!prefetch) plan->shared = address_of(decoder, operands[store ? 1 : 0]);
    plan->completes_barrier = instruction.has(Suffix::kMbarrierCompleteTxBytes);
    if (plan->completes_barrier) plan->barrier = address_of(decoder, operands[2]);
    AccessSite site = site_of(instruction, prefetch ? Operation::kPrefetch : store ? Operation::kStore : Operation::kAsyncCopy);
    site.bytes = 16;
    site.bulk = true;
    plan->accesses.push_back({decoder.add_site(site), 0, 16, decoder.policy(instruction)});
    plan->watched = &decoder.memory_plan();
    decoder.emit(copy_tensor, {}, kOrdered).plan = plan;
    return true;
}

}  // namespace lanescope::exec
