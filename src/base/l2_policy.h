// What an access tells L2 about the lines that it touches, as `createpolicy` makes it and `L2::cache_hint` hands it on.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace lanescope::base {

/// When a line of L2 makes room, in the machine's numbers. kUnchanged: as without a policy; kNormal: also if it was kLast.
enum class L2Priority : uint8_t { kUnchanged, kFirst, kLast, kNormal };

/// The machine's own 64 bits, since programs hold such numbers as constants (0x14f0000000000000: evict_last). 0: no policy.
/// Two ways to choose the lines that get the first priority; all others get the second, which is kUnchanged or kFirst:
///  - so many of 16 parts of memory, parts of 512 bytes taken by a hash of the address;
///  - so many blocks of 4 KiB to 32 MiB, by number modulo 128.
/// Evidence: an H200's createpolicy, and which lines it kept (docs/memory-model.md, L2).
class L2Policy {
public:
    constexpr L2Policy() = default;
    explicit constexpr L2Policy(uint64_t bits) : bits_(bits) {}

    /// A fraction of all lines, rounded up to 16ths.
    static L2Policy fraction(L2Priority first, L2Priority second, float fraction) {
        return parts(first, second, fraction > 0 ? unsigned(std::min(std::ceil(fraction * kParts), float(kParts))) : 1);
    }
    static constexpr L2Policy parts(L2Priority first, L2Priority second, unsigned of_16) {
        return L2Policy(uint64_t(kInterleaved) << 59 | uint64_t(first) << 57 | uint64_t(second == L2Priority::kFirst) << 56 | uint64_t(of_16 - 1) << 52);
    }
    static constexpr L2Policy always(L2Priority priority) { return parts(priority, L2Priority::kUnchanged, kParts); }
    /// `first_bytes` from `address`; the blocks are as large as `bytes`, all that the policy is for, demands.
    static constexpr L2Policy range(L2Priority first, L2Priority second, uint64_t address, uint32_t first_bytes, uint32_t bytes) {
        const unsigned log_bytes = unsigned(std::bit_width(bytes == 0 ? 0 : bytes - 1)), scale = log_bytes > 19 ? log_bytes - 19 : 0, log_block = kLogSmallest + scale;
        const uint64_t begin = address >> log_block, end = (address + first_bytes + (uint64_t(1) << log_block) - 1) >> log_block;
        const uint64_t count = std::clamp<uint64_t>(end - begin, 1, kBlocks - 1);
        return L2Policy(uint64_t(kBlockwise) << 59 | uint64_t(first) << 57 | uint64_t(second == L2Priority::kFirst) << 56 | uint64_t(scale) << 52 |
                        (begin % kBlocks) << 44 | count << 37);
    }

    constexpr uint64_t bits() const { return bits_; }
    explicit constexpr operator bool() const { return bits_ != 0; }

    constexpr L2Priority at(uint64_t address) const {
        bool first = false;
        switch (field(59, 2)) {
            case kInterleaved: first = part_of(address) <= field(52, 4); break;
            case kBlockwise: first = ((address >> (kLogSmallest + field(52, 4))) - field(44, 7)) % kBlocks < field(37, 7); break;
            default: return L2Priority::kUnchanged;
        }
        return first ? L2Priority(field(57, 2)) : field(56, 1) ? L2Priority::kFirst : L2Priority::kUnchanged;
    }

private:
    static constexpr unsigned kParts = 16, kBlocks = 128, kLogSmallest = 12;
    static constexpr unsigned kInterleaved = 2, kBlockwise = 3;

    constexpr unsigned field(unsigned shift, unsigned width) const { return unsigned(bits_ >> shift) & ((1u << width) - 1); }
    /// 0 to 15. What an H200 does within the 2 MiB of a physical page; each such page is as the others here.
    static constexpr unsigned part_of(uint64_t address) {
        const auto parity = [piece = unsigned(address >> 9)](unsigned of) { return unsigned(std::popcount(piece & of)) & 1; };
        return parity(0xbad) << 3 | parity(0x41d) << 2 | parity(0x6c9) << 1 | parity(0x1e8);
    }

    uint64_t bits_ = 0;
};

}  // namespace lanescope::base
