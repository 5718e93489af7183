#include "cli/ptx_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace lanescope::cli {
namespace {

constexpr std::array<std::string_view, 5> kFills = {"zero", "i32", "f32", "f64", "random"};

template <class T>
std::vector<std::byte> bytes_of(T value) {
    std::vector<std::byte> out(sizeof value);
    std::memcpy(out.data(), &value, sizeof value);
    return out;
}

/// A whole number, decimal or 0x…, in the range of `bits` bits.
base::Result<std::vector<std::byte>> integer(const std::string& text, unsigned bits, bool is_signed) {
    const auto wrong = [&] { return base::error(fmt::format("'{}' is not a{} {}-bit integer", text, is_signed ? "" : "n unsigned", bits)); };
    if (text.empty() || text[0] == ' ') return wrong();
    char* end = nullptr;
    errno = 0;
    uint64_t raw = 0;
    if (text[0] == '-') {
        const long long value = std::strtoll(text.c_str(), &end, 0);
        if (!is_signed || (bits < 64 && value < -(1ll << (bits - 1)))) return wrong();
        raw = static_cast<uint64_t>(value);
    } else {
        raw = std::strtoull(text.c_str(), &end, 0);
        const unsigned usable = is_signed && !text.starts_with("0x") ? bits - 1 : bits;
        if (usable < 64 && raw >> usable != 0) return wrong();
    }
    if (*end != 0 || errno != 0) return wrong();
    std::vector<std::byte> out = bytes_of(raw);  // little-endian: the low bytes come first
    out.resize(bits / 8);
    return out;
}

template <class T>
void ramp(std::byte* bytes, uint64_t count) {
    for (uint64_t i = 0; i < count / sizeof(T); ++i) {
        const T value = static_cast<T>(i);
        std::memcpy(bytes + i * sizeof(T), &value, sizeof(T));
    }
}

}  // namespace

base::Result<PtxArgument> parse_argument(const std::string& text) {
    const size_t colon = text.find(':');
    if (colon == std::string::npos) return base::error(fmt::format("'{}' is neither buffer:BYTES nor TYPE:VALUE", text));
    const std::string type = text.substr(0, colon), value = text.substr(colon + 1);
    PtxArgument out;
    if (type == "buffer") {
        out.is_buffer = true;
        const size_t second = value.find(':');
        std::string size = value.substr(0, second);
        if (second != std::string::npos) out.fill = value.substr(second + 1);
        if (std::find(kFills.begin(), kFills.end(), out.fill) == kFills.end()) return base::error(fmt::format("'{}' is none of the fillings {}", out.fill, fmt::join(kFills, ", ")));
        unsigned shift = 0;
        if (!size.empty()) shift = size.back() == 'K' ? 10 : size.back() == 'M' ? 20 : size.back() == 'G' ? 30 : 0;
        if (shift != 0) size.pop_back();
        const auto bytes = integer(size, 64, false);
        if (!bytes.ok()) return base::error(fmt::format("'{}' is not a number of bytes", value.substr(0, second)));
        std::memcpy(&out.buffer_bytes, bytes->data(), 8);
        if (out.buffer_bytes == 0 || out.buffer_bytes > (uint64_t(1) << 40) >> shift) return base::error(fmt::format("a buffer of {} bytes is not possible", value.substr(0, second)));
        out.buffer_bytes <<= shift;
        return out;
    }
    if (type == "f32" || type == "f64") {
        char* end = nullptr;
        const double number = std::strtod(value.c_str(), &end);
        if (value.empty() || *end != 0) return base::error(fmt::format("'{}' is not a number", value));
        out.value = type == "f32" ? bytes_of(static_cast<float>(number)) : bytes_of(number);
        return out;
    }
    for (const unsigned bits : {8u, 16u, 32u, 64u})
        for (const char kind : {'i', 's', 'u', 'b'}) {
            if (type != fmt::format("{}{}", kind, bits)) continue;
            auto bytes = integer(value, bits, kind == 'i' || kind == 's');
            if (!bytes.ok()) return bytes.errors();
            out.value = std::move(*bytes);
            return out;
        }
    return base::error(fmt::format("'{}' is no type: buffer, i8 … i64, u8 … u64, b8 … b64, f32, f64", type));
}

base::Result<std::vector<uint32_t>> parse_dimensions(const std::string& text) {
    std::vector<uint32_t> out;
    size_t start = 0;
    for (;;) {
        const size_t comma = text.find(',', start);
        const auto number = integer(text.substr(start, comma == std::string::npos ? comma : comma - start), 32, false);
        uint32_t value = 0;
        if (number.ok()) std::memcpy(&value, number->data(), 4);
        if (value == 0 || out.size() == 3) return base::error(fmt::format("'{}' is not X, X,Y or X,Y,Z", text));
        out.push_back(value);
        if (comma == std::string::npos) break;
        start = comma + 1;
    }
    out.resize(3, 1);
    return out;
}

void fill(const std::string& how, std::byte* bytes, uint64_t count) {
    if (how == "i32") ramp<int32_t>(bytes, count);
    else if (how == "f32") ramp<float>(bytes, count);
    else if (how == "f64") ramp<double>(bytes, count);
    else if (how == "random") {
        uint64_t state = 0x9E3779B97F4A7C15ull;  // xorshift64*
        for (uint64_t i = 0; i < count; ++i) {
            state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
            bytes[i] = static_cast<std::byte>(state * 0x2545F4914F6CDD1Dull >> 56);
        }
    }
}

}  // namespace lanescope::cli
