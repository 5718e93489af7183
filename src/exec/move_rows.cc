#include "exec/lane_rows.h"
#include "exec/move.h"

namespace lanescope::exec {
inline namespace LANESCOPE_LEVEL {
MoveFunctions move_functions_at_level();

namespace {

struct Wide { uint64_t low, high; };  // a 128-bit element; its row is 32 low halves, then 32 high ones

template <class T>
inline T load_from(uint64_t address) {
    T value;
    __builtin_memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
    return value;
}

template <class Memory, class Register>
inline void load_vector(const Transfer& t, unsigned vector) {
    constexpr unsigned kBytes = sizeof(Memory);
    for (unsigned v = 0; v < vector; ++v) {
        auto* row = static_cast<Register*>(t.rows[v]);
        if (row == nullptr) continue;
        if (t.contiguous) {
            const uint64_t from = t.addresses[0] + uint64_t(t.delta) + v * kBytes;
            const unsigned stride = vector * kBytes;
            LANESCOPE_EACH_LANE(lane) row[lane] = Register(load_from<Memory>(from + lane * stride));
        } else if (t.mask == kFullMask) {
            const uint64_t delta = uint64_t(t.delta) + v * kBytes;
            for (unsigned lane = 0; lane < 32; ++lane) row[lane] = Register(load_from<Memory>(t.addresses[lane] + delta));
        } else {
            const uint64_t delta = uint64_t(t.delta) + v * kBytes;
            for (uint32_t rest = t.mask; rest != 0; rest &= rest - 1) {
                const auto lane = unsigned(__builtin_ctz(rest));
                row[lane] = Register(load_from<Memory>(t.addresses[lane] + delta));
            }
        }
    }
}

template <class Memory, class Register>
void load(const Transfer& t) {
    if (t.vector == 1) load_vector<Memory, Register>(t, 1);
    else if (t.vector == 4) load_vector<Memory, Register>(t, 4);
    else load_vector<Memory, Register>(t, t.vector);
}

template <class Memory, class Register>
inline void store_vector(const Transfer& t, unsigned vector) {
    constexpr unsigned kBytes = sizeof(Memory);
    for (unsigned v = 0; v < vector; ++v) {
        const auto* row = static_cast<const Register*>(t.rows[v]);
        const uint64_t delta = uint64_t(t.delta) + v * kBytes;
        const auto put = [&](unsigned lane, uint64_t address) {
            const auto value = Memory(row[lane]);
            __builtin_memcpy(reinterpret_cast<void*>(address), &value, kBytes);
        };
        if (t.contiguous) {
            const uint64_t to = t.addresses[0] + delta;
            const unsigned stride = vector * kBytes;
            LANESCOPE_EACH_LANE(lane) put(lane, to + lane * stride);
        } else {
            for (uint32_t rest = t.mask; rest != 0; rest &= rest - 1) {  // in lane order: of lanes that store to one place the last wins
                const auto lane = unsigned(__builtin_ctz(rest));
                put(lane, t.addresses[lane] + delta);
            }
        }
    }
}

template <class Memory, class Register>
void store(const Transfer& t) {
    if (t.vector == 1) store_vector<Memory, Register>(t, 1);
    else if (t.vector == 4) store_vector<Memory, Register>(t, 4);
    else store_vector<Memory, Register>(t, t.vector);
}

template <bool kStore>
void move_wide(const Transfer& t) {
    for (unsigned v = 0; v < t.vector; ++v) {
        auto* row = static_cast<uint64_t*>(t.rows[v]);
        if (row == nullptr) continue;
        for (uint32_t rest = t.mask; rest != 0; rest &= rest - 1) {
            const auto lane = unsigned(__builtin_ctz(rest));
            auto* at = reinterpret_cast<void*>(t.addresses[lane] + uint64_t(t.delta) + v * 16);
            Wide value{row[lane], row[32 + lane]};
            if constexpr (kStore) {
                __builtin_memcpy(at, &value, 16);
            } else {
                __builtin_memcpy(&value, at, 16);
                row[lane] = value.low;
                row[32 + lane] = value.high;
            }
        }
    }
}

template <class Memory>
Move find_load(unsigned register_bytes) {
    switch (register_bytes) {
        case 2: return sizeof(Memory) <= 2 ? load<Memory, uint16_t> : nullptr;
        case 4: return sizeof(Memory) <= 4 ? load<Memory, uint32_t> : nullptr;
        case 8: return load<Memory, uint64_t>;
        default: return nullptr;
    }
}
template <class Memory>
Move find_store(unsigned register_bytes) {
    switch (register_bytes) {
        case 2: return sizeof(Memory) <= 2 ? store<Memory, uint16_t> : nullptr;
        case 4: return sizeof(Memory) <= 4 ? store<Memory, uint32_t> : nullptr;
        case 8: return store<Memory, uint64_t>;
        default: return nullptr;
    }
}

Move find(unsigned element_bytes, unsigned register_bytes, bool is_signed, bool is_store) {
    if (element_bytes == 16) return register_bytes != 16 ? nullptr : is_store ? move_wide<true> : move_wide<false>;
    switch (element_bytes) {
        case 1: return is_store ? find_store<uint8_t>(register_bytes) : is_signed ? find_load<int8_t>(register_bytes) : find_load<uint8_t>(register_bytes);
        case 2: return is_store ? find_store<uint16_t>(register_bytes) : is_signed ? find_load<int16_t>(register_bytes) : find_load<uint16_t>(register_bytes);
        case 4: return is_store ? find_store<uint32_t>(register_bytes) : is_signed ? find_load<int32_t>(register_bytes) : find_load<uint32_t>(register_bytes);
        case 8: return is_store ? find_store<uint64_t>(register_bytes) : find_load<uint64_t>(register_bytes);
        default: return nullptr;
    }
}

template <class T>
void form_addresses(uint64_t* addresses, const void* base, int64_t offset, uint32_t mask, uint64_t width, Shape& shape) {
    const auto* row = static_cast<const T*>(base);
    LANESCOPE_EACH_LANE(lane) addresses[lane] = T(row[lane] + T(offset));
    if (mask == kFullMask) {
        const uint64_t first = addresses[0];
        uint64_t wrong = 0;
        for (unsigned lane = 0; lane < 32; ++lane) wrong |= addresses[lane] ^ (first + lane * width);
        if (wrong == 0) {
            shape = {first, first + 31 * width, first | (first + 31 * width), true};
            return;
        }
        uint64_t low = UINT64_MAX, high = 0, bits = 0;
        for (unsigned lane = 0; lane < 32; ++lane) {
            low = addresses[lane] < low ? addresses[lane] : low;
            high = addresses[lane] > high ? addresses[lane] : high;
            bits |= addresses[lane];
        }
        shape = {low, high, bits, false};
        return;
    }
    uint64_t low = UINT64_MAX, high = 0, bits = 0;
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const uint64_t address = addresses[__builtin_ctz(rest)];
        low = address < low ? address : low;
        high = address > high ? address : high;
        bits |= address;
    }
    shape = {low, high, bits, false};
}

void least_two(const uint64_t* keys, unsigned count, uint64_t& first, uint64_t& second) {
    constexpr unsigned kColumns = 8;  // each column by itself, so that compilers vectorise
    uint64_t low[kColumns], next[kColumns];
    for (unsigned c = 0; c < kColumns; ++c) low[c] = next[c] = UINT64_MAX;
    for (unsigned i = 0; i < count; i += kColumns) {
        for (unsigned c = 0; c < kColumns; ++c) {
            const uint64_t key = keys[i + c], larger = key < low[c] ? low[c] : key;
            low[c] = key < low[c] ? key : low[c];
            next[c] = larger < next[c] ? larger : next[c];
        }
    }
    first = second = UINT64_MAX;
    for (unsigned c = 0; c < kColumns; ++c) {
        for (unsigned i = 0; i < 2; ++i) {
            const uint64_t key = i == 0 ? low[c] : next[c];
            const uint64_t larger = key < first ? first : key;
            first = key < first ? key : first;
            second = larger < second ? larger : second;
        }
    }
}

}  // namespace

MoveFunctions move_functions_at_level() { return {find, form_addresses<uint64_t>, form_addresses<uint32_t>, least_two}; }

}  // namespace LANESCOPE_LEVEL
}  // namespace lanescope::exec
