#include "emulator/relayout.h"

#include <algorithm>
#include <bit>

namespace lanescope::emulator {
namespace {

using analysis::ChangeKind;
using analysis::Field;

// Data in a new layout lies here, above all device addresses, so that it meets nothing else; by the region's own address, so that
// regions stay apart. Its sectors are as cold as those it stands for.
constexpr uint64_t kElsewhere = uint64_t(1) << 50;
constexpr uint64_t kRecordsPerBlock = 32;         // of an array of structures of arrays: a warp
constexpr uint64_t kTile = 32;                    // rows and columns
constexpr uint32_t kSlotsPerSm = 256;             // warps of an SM, see exec::run_grid
// What an access through a tile takes beside itself: a store and a load in shared memory, the barrier, and the other indices with their
// products: examples/transpose/3-padded.cu executes 34 instructions a warp, 1-naive.cu 22.
constexpr double kTurnInstructions = 12;

template <class F>
void each_lane(uint32_t active, F f) {
    for (; active != 0; active &= active - 1) f(unsigned(std::countr_zero(active)));
}

}  // namespace

Relayout::Relayout(const analysis::Candidate& change, memory::Model& model, uint32_t schedulers)
    : change_(change), model_(model), turn_cycles_(kTurnInstructions / schedulers) {
    for (uint32_t i = 0; i < change_.accesses; ++i) {
        const uint32_t instruction = change_.instructions[i];
        if (instruction >= named_.size()) named_.resize(instruction + 1);
        named_[instruction] = true;
    }
    if (change_.kind == ChangeKind::kStructureOfArrays || change_.kind == ChangeKind::kBlockedArrays) {
        field_of_.resize(change_.pitch);
        for (uint32_t i = 0; i < change_.field_count; ++i)
            for (uint32_t byte = 0; byte < change_.fields[i].bytes; ++byte) field_of_[change_.fields[i].begin + byte] = change_.fields[i];
        records_ = (change_.bytes / change_.pitch + 2 * kRecordsPerBlock + 511) / 512 * 512;
    }
}

uint32_t Relayout::access(const memory::Access& access, uint32_t instruction, uint32_t warp) {
    const bool global = access.space == memory::Space::kGlobal;
    if (!waiting_.empty()) release(access.sm, access.time);
    switch (change_.kind) {
        case ChangeKind::kStructureOfArrays:
        case ChangeKind::kBlockedArrays:
        case ChangeKind::kAlign:
        case ChangeKind::kPitch: return global ? relaid(access) : model_.access(access);
        case ChangeKind::kInterleave: return global && named(instruction) ? relaid(access) : model_.access(access);
        case ChangeKind::kPad:
        case ChangeKind::kSwizzle: return access.space == memory::Space::kShared ? relaid(access) : model_.access(access);
        case ChangeKind::kTile: return global ? through_tile(access, named(instruction)) : model_.access(access);
        case ChangeKind::kWiden: return global && named(instruction) ? widened(access, instruction) : model_.access(access);
        case ChangeKind::kCombine: return global && named(instruction) ? combined(access) : model_.access(access);
        case ChangeKind::kSharedBins: return global && named(instruction) ? in_bins(access) : model_.access(access);
        case ChangeKind::kTableInGlobal: return named(instruction) && access.space == memory::Space::kConst ? table(access) : model_.access(access);
        case ChangeKind::kArrayInShared: return access.space == memory::Space::kLocal ? in_shared(access, warp) : model_.access(access);
        case ChangeKind::kReadOnly:
        case ChangeKind::kBypassL1:
        case ChangeKind::kStreamStores: {
            if (!global || !named(instruction)) return model_.access(access);
            memory::Access changed = access;
            changed.cache = change_.kind == ChangeKind::kReadOnly ? memory::CacheOperator::kNonCoherent
                          : change_.kind == ChangeKind::kBypassL1 ? memory::CacheOperator::kCg : memory::CacheOperator::kCs;
            return model_.access(changed);
        }
        case ChangeKind::kDeviceMemory: return model_.access(access);  // the caller has unmapped it
    }
    return model_.access(access);
}

// --- layouts ------------------------------------------------------------------------------------------------------------------

uint64_t Relayout::moved_record(uint64_t address, uint32_t bytes) {
    const uint64_t offset = address - change_.origin + kRecordsPerBlock * change_.pitch;   // data before the first record seen: a block lower
    const uint64_t record = offset / change_.pitch, at = offset % change_.pitch;
    Field& field = field_of_[at];
    if (field.bytes == 0) {  // a field that the example did not show
        field = {uint16_t(at), uint16_t(std::min<uint64_t>(bytes, change_.pitch - at))};
        for (uint32_t byte = 1; byte < field.bytes && field_of_[at + byte].bytes == 0; ++byte) field_of_[at + byte] = field;
    }
    const uint64_t within = at - field.begin;
    if (change_.kind == ChangeKind::kStructureOfArrays)
        return kElsewhere + change_.begin + records_ * field.begin + record * field.bytes + within;
    const uint64_t block = record / kRecordsPerBlock, lane = record % kRecordsPerBlock;
    return kElsewhere + change_.begin + (block * change_.pitch + field.begin) * kRecordsPerBlock + lane * field.bytes + within;
}

/// Row r and column c of a tile change places, so that a walk down a column follows a row.
uint64_t Relayout::moved_tile(uint64_t address) const {
    const uint64_t offset = address - change_.begin, element = change_.element;
    const uint64_t row = offset / change_.pitch, column = offset % change_.pitch / element;
    const uint64_t new_row = row / kTile * kTile + column % kTile, new_column = column / kTile * kTile + row % kTile;
    return change_.begin + new_row * change_.pitch + new_column * element + offset % element;
}

uint64_t Relayout::moved_row(uint64_t address) const {
    const uint64_t offset = address - change_.origin;
    return kElsewhere + change_.begin + offset / change_.pitch * change_.new_pitch + offset % change_.pitch;
}

uint64_t Relayout::moved(uint64_t address, uint32_t bytes) {
    switch (change_.kind) {
        case ChangeKind::kStructureOfArrays:
        case ChangeKind::kBlockedArrays: return moved_record(address, bytes);
        case ChangeKind::kInterleave: {
            const uint64_t offset = address - change_.begin, chunk = offset / change_.pitch, word = offset % change_.pitch / change_.element;
            return change_.begin + chunk / kRecordsPerBlock * kRecordsPerBlock * change_.pitch + (word * kRecordsPerBlock + chunk % kRecordsPerBlock) * change_.element +
                   offset % change_.element;
        }
        case ChangeKind::kAlign: return kElsewhere + address - change_.origin;
        case ChangeKind::kPitch: return moved_row(address);
        case ChangeKind::kPad: return change_.begin + (address - change_.begin) / change_.pitch * change_.new_pitch + (address - change_.begin) % change_.pitch;
        case ChangeKind::kSwizzle: {
            const uint64_t offset = address - change_.begin, row = offset / change_.pitch;
            return change_.begin + (offset ^ ((row * change_.width) & 127));
        }
        case ChangeKind::kTile: return moved_tile(address);
        default: return address;
    }
}

uint32_t Relayout::piece(const memory::Access& access) {
    if (change_.kind != ChangeKind::kStructureOfArrays && change_.kind != ChangeKind::kBlockedArrays) return access.bytes;
    uint32_t least = access.bytes;
    each_lane(access.active, [&](unsigned lane) {
        if (!inside(access.addresses[lane])) return;
        const uint64_t at = (access.addresses[lane] - change_.origin + kRecordsPerBlock * change_.pitch) % change_.pitch;
        const Field field = field_of_[at];
        if (field.bytes == 0) return;
        const uint32_t rest = uint32_t(field.begin + field.bytes - at);
        if (rest < least) least = uint32_t(1) << (std::bit_width(rest) - 1);
    });
    return least;
}

uint32_t Relayout::relaid(const memory::Access& access) {
    memory::Access changed = access;
    changed.addresses = addresses_.data();
    const uint32_t bytes = piece(access);
    changed.bytes = uint8_t(bytes);
    uint32_t delay = 0;
    for (uint32_t part = 0; part < access.bytes; part += bytes) {
        each_lane(access.active, [&](unsigned lane) {
            const uint64_t address = access.addresses[lane] + part;
            addresses_[lane] = inside(address) ? moved(address, bytes) : address;
        });
        delay = std::max(delay, model_.access(changed));
    }
    return delay;
}

// --- other ways to ask --------------------------------------------------------------------------------------------------------

/// A tile comes along its rows and is turned in shared memory: one conflict-free store and one load more for each access, and a barrier between
/// them: what a block stores waits for all that it has loaded. The model wants accesses in the order of time: such stores wait their turn here.
uint32_t Relayout::through_tile(const memory::Access& access, bool turned) {
    const size_t block = size_t(access.sm) * kSlotsPerSm + access.block_slot;
    if (block >= tiles_.size()) tiles_.resize(block + 1);
    Tile& tile = tiles_[block];
    uint32_t in = 0, out = 0;
    if (turned) {
        memory::Access turn = access;
        turn.space = memory::Space::kShared;
        turn.bytes = uint8_t(std::min<uint32_t>(access.bytes, 16));
        turn.addresses = addresses_.data();
        for (uint64_t lane = 0; lane < kLanes; ++lane) addresses_[lane] = lane * turn.bytes;
        turn.operation = memory::Operation::kStore;
        in = model_.access(turn);
        turn.operation = memory::Operation::kLoad;
        out = model_.access(turn);
    }
    if (access.operation != memory::Operation::kStore) {
        const uint32_t delay = (turned ? relaid(access) : model_.access(access)) + in + out;
        tile.there = std::max(tile.there, access.time + delay);
        return delay;
    }
    tile.there = std::max(tile.there, access.time + in);
    // Where the barrier opens all warps are there at once, and their schedulers take them one after the other.
    tile.issued = std::max(tile.issued, double(tile.there)) + turn_cycles_;
    Addresses moved_to{};
    each_lane(access.active, [&](unsigned lane) {
        const uint64_t address = access.addresses[lane];
        moved_to[lane] = turned && inside(address) ? moved(address, access.bytes) : address;
    });
    const uint64_t start = uint64_t(tile.issued) + out;
    wait_until(start, access, moved_to);
    return uint32_t(start - access.time);
}

void Relayout::wait_until(uint64_t time, const memory::Access& access, const Addresses& addresses) {
    if (access.sm >= waiting_.size()) waiting_.resize(access.sm + 1);
    Later later{access, addresses};
    later.access.time = time;
    waiting_[access.sm].push(later);
}

void Relayout::release(uint32_t sm, uint64_t time) {
    if (sm >= waiting_.size()) return;
    for (auto& queue = waiting_[sm]; !queue.empty() && queue.top().access.time <= time; queue.pop()) {
        Later later = queue.top();
        later.access.addresses = later.addresses.data();
        model_.access(later.access);
    }
}

void Relayout::finish() {
    for (uint32_t sm = 0; sm < waiting_.size(); ++sm) release(sm, ~uint64_t(0));
}

uint32_t Relayout::widened(const memory::Access& access, uint32_t instruction) {
    const size_t warp = size_t(access.sm) * kSlotsPerSm + access.warp_slot;
    if (warp >= wide_.size()) wide_.resize(warp + 1);
    Wide& wide = wide_[warp];
    uint32_t part = 0;
    while (change_.instructions[part] != instruction) ++part;
    const uint64_t base = access.addresses[std::countr_zero(access.active)] / change_.width * change_.width;
    const uint64_t bit = uint64_t(1) << part;
    if (wide.base == base && !(wide.served & bit) && wide.served != 0) {  // came with the vector
        wide.served |= bit;
        return wide.arrival > access.time ? uint32_t(wide.arrival - access.time) : 0;
    }
    memory::Access changed = access;
    changed.bytes = uint8_t(change_.width);
    changed.addresses = addresses_.data();
    each_lane(access.active, [&](unsigned lane) { addresses_[lane] = access.addresses[lane] / change_.width * change_.width; });
    const uint32_t delay = model_.access(changed);
    wide = {base, access.time + delay, bit};
    return delay;
}

/// One lane for each address.
uint32_t Relayout::combined(const memory::Access& access) {
    memory::Access changed = access;
    changed.active = 0;
    each_lane(access.active, [&](unsigned lane) {
        bool first = true;
        each_lane(changed.active, [&](unsigned other) { first &= access.addresses[other] != access.addresses[lane]; });
        if (first) changed.active |= 1u << lane;
    });
    return model_.access(changed);
}

/// The block's own array, and which of its words there is something to add to.
uint32_t Relayout::in_bins(const memory::Access& access) {
    const size_t block = size_t(access.sm) * kSlotsPerSm + access.block_slot;
    if (block >= touched_.size()) touched_.resize(block + 1);
    std::vector<bool>& touched = touched_[block];
    touched.resize(change_.bytes / access.bytes + 1);
    update_ = access;
    memory::Access changed = access;
    changed.space = memory::Space::kShared;
    changed.addresses = addresses_.data();
    each_lane(access.active, [&](unsigned lane) {
        addresses_[lane] = access.addresses[lane] - change_.begin;
        if (inside(access.addresses[lane])) touched[addresses_[lane] / access.bytes] = true;
    });
    return model_.access(changed);
}

/// A warp takes 32 words at a time: a reduction of those that are not zero.
void Relayout::block_ends(uint32_t sm, uint32_t block_slot, uint64_t time) {
    const size_t block = size_t(sm) * kSlotsPerSm + block_slot;
    if (block >= touched_.size()) return;
    std::vector<bool>& touched = touched_[block];
    memory::Access update = update_;
    update.sm = sm;
    update.block_slot = block_slot;
    Addresses addresses{};
    for (size_t first = 0; first < touched.size(); first += kLanes) {
        update.active = 0;
        for (size_t lane = 0; lane < kLanes && first + lane < touched.size(); ++lane) {
            update.active |= uint32_t(touched[first + lane]) << lane;
            addresses[lane] = change_.begin + (first + lane) * update.bytes;
        }
        if (update.active != 0) wait_until(time, update, addresses);
    }
    touched.clear();
}

uint32_t Relayout::table(const memory::Access& access) {
    memory::Access changed = access;
    changed.space = memory::Space::kGlobal;
    changed.cache = memory::CacheOperator::kNonCoherent;
    changed.addresses = addresses_.data();
    each_lane(access.active, [&](unsigned lane) { addresses_[lane] = kElsewhere + access.addresses[lane]; });
    return model_.access(changed);
}

/// Word k of a thread lies at 32 k + lane of its warp's share: each lane has a bank of its own.
uint32_t Relayout::in_shared(const memory::Access& access, uint32_t warp) {
    memory::Access changed = access;
    changed.space = memory::Space::kShared;
    changed.addresses = addresses_.data();
    const uint64_t words = (change_.pitch + 3) / 4, word_bytes = std::max<uint64_t>(4, access.bytes);
    each_lane(access.active, [&](unsigned lane) {
        const uint64_t offset = access.addresses[lane];
        addresses_[lane] = warp * words * kLanes * 4 + offset / word_bytes * word_bytes * kLanes + lane * word_bytes + offset % word_bytes;
    });
    return model_.access(changed);
}

}  // namespace lanescope::emulator
