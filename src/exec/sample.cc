#include "exec/sample.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "exec/half.h"

namespace lanescope::exec {
namespace {

constexpr int32_t kOutside = -1;          ///< an index whose texel is the border

/// A dimension's texel index from any integer, kOutside for the border.
int32_t resolve(int64_t i, uint32_t size, AddressMode mode) {
    const int64_t n = size;
    switch (mode) {
        case AddressMode::kWrap: return int32_t(((i % n) + n) % n);
        case AddressMode::kMirror: {
            int64_t period = ((i % (2 * n)) + 2 * n) % (2 * n);
            return int32_t(period < n ? period : 2 * n - 1 - period);
        }
        case AddressMode::kBorder: return i < 0 || i >= n ? kOutside : int32_t(i);
        case AddressMode::kClamp: break;
    }
    return int32_t(std::clamp<int64_t>(i, 0, n - 1));
}

int64_t floor_to_integer(float x) {
    if (std::isnan(x)) return 0;
    return int64_t(std::clamp(std::floor(x), -1e9f, 1e9f));
}

/// One dimension of a fetch: one or two texels and the weight of the second.
struct Axis {
    int32_t first = 0, second = 0;
    float weight = 0;
};

Axis axis(const Texture& t, unsigned dimension, uint32_t size, const Coordinates& c, bool linear) {
    AddressMode mode = t.address_modes[dimension];
    if (!t.normalized_coordinates && mode != AddressMode::kBorder) mode = AddressMode::kClamp;
    if (c.integer) {
        int32_t i = resolve(c.texel[dimension], size, mode);
        return {i, i, 0};
    }
    float x = c.at[dimension];
    if (t.normalized_coordinates) {
        // Wrapped first: the product keeps its precision far from zero.
        if (mode == AddressMode::kWrap) x -= std::floor(x);
        x *= float(size);
    }
    if (!linear) {
        int32_t i = resolve(floor_to_integer(x), size, mode);
        return {i, i, 0};
    }
    float shifted = x - 0.5f, whole = std::floor(shifted);
    int64_t i = floor_to_integer(shifted);
    float weight = std::isfinite(shifted) ? std::nearbyint((shifted - whole) * 256.0f) / 256.0f : 0.0f;
    return {resolve(i, size, mode), resolve(i + 1, size, mode), weight};
}

float srgb_to_linear(float v) { return v <= 0.04045f ? v / 12.92f : std::pow((v + 0.055f) / 1.055f, 2.4f); }

uint32_t raw_channel(const std::byte* texel, unsigned bits, unsigned channel) {
    uint32_t value = 0;
    std::memcpy(&value, texel + channel * bits / 8, bits / 8);
    return value;
}

/// A channel as the fetch returns it: the bits of a float, or an integer extended to 32 bits.
uint32_t convert(const Texture& t, uint32_t raw, unsigned channel) {
    if (t.format == TexelFormat::kFloat) return t.channel_bits == 16 ? std::bit_cast<uint32_t>(half_to_float(Half{uint16_t(raw)})) : raw;
    bool is_signed = t.format == TexelFormat::kSigned;
    int32_t extended = t.channel_bits == 8 ? int8_t(raw) : t.channel_bits == 16 ? int16_t(raw) : int32_t(raw);
    if (!t.normalized_values) return is_signed ? uint32_t(extended) : raw;
    float largest = float((uint64_t(1) << (t.channel_bits - (is_signed ? 1 : 0))) - 1);
    float value = is_signed ? std::max(float(extended) / largest, -1.0f) : float(raw) / largest;
    if (t.srgb && channel < 3) value = srgb_to_linear(value);
    return std::bit_cast<uint32_t>(value);
}

bool is_float(const Texture& t) { return t.format == TexelFormat::kFloat || t.normalized_values; }

/// Reads one texel; outside is the border, and of linear memory zero.
std::array<uint32_t, 4> read(const Texture& t, const std::byte* host, int32_t x, int32_t y, int32_t z, Sample& sample) {
    std::array<uint32_t, 4> value{0, 0, 0, is_float(t) ? std::bit_cast<uint32_t>(1.0f) : 1};
    if (x == kOutside || y == kOutside || z == kOutside) {
        if (t.linear_memory) return {};
        for (unsigned i = 0; i < 4; ++i) value[i] = is_float(t) ? std::bit_cast<uint32_t>(t.border[i]) : uint32_t(int64_t(t.border[i]));
        return value;
    }
    uint64_t offset = texel_offset(t, uint32_t(x), uint32_t(y), uint32_t(z));
    if (sample.count < sample.texels.size()) sample.texels[sample.count] = texel_address(t, uint32_t(x), uint32_t(y), uint32_t(z));
    if (sample.count++ == 0) sample.xyz = {x, y, z};
    for (unsigned i = 0; i < t.channels; ++i) value[i] = convert(t, raw_channel(host + offset, t.channel_bits, i), i);
    return value;
}

int32_t layer_of(const Texture& t, int32_t layer) { return t.layers ? std::clamp(layer, 0, int32_t(t.layers) - 1) : 0; }

/// Repeats the last address, so that every lane of a warp has as many.
void pad(Sample& sample) {
    for (uint32_t i = std::max(1u, sample.count); i < sample.texels.size(); ++i) sample.texels[i] = sample.texels[i - 1];
}

}  // namespace

Sample sample(const Texture& t, const std::byte* host, unsigned dimensions, const Coordinates& c) {
    Sample out;
    if (t.linear_memory) {
        int64_t i = c.integer ? c.texel[0] : floor_to_integer(c.at[0]);
        out.value = read(t, host, i < 0 || i >= int64_t(t.width) ? kOutside : int32_t(i), 0, 0, out);
        pad(out);
        return out;
    }
    // Integer formats that are not read as floats cannot be filtered.
    bool linear = t.filter == Filter::kLinear && is_float(t) && !c.integer;
    Axis x = axis(t, 0, t.width, c, linear);
    Axis y = dimensions > 1 ? axis(t, 1, std::max(1u, t.height), c, linear) : Axis{};
    Axis z = dimensions > 2 ? axis(t, 2, std::max(1u, t.depth), c, linear) : Axis{};
    if (dimensions < 3) z.first = z.second = layer_of(t, c.layer);
    if (!linear) {
        out.value = read(t, host, x.first, y.first, z.first, out);
        pad(out);
        return out;
    }
    std::array<float, 4> sum{};
    for (unsigned corner = 0; corner < 1u << dimensions; ++corner) {
        bool right = corner & 1, down = corner & 2, deep = corner & 4;
        float weight = (right ? x.weight : 1 - x.weight) * (dimensions < 2 ? 1 : down ? y.weight : 1 - y.weight) *
                       (dimensions < 3 ? 1 : deep ? z.weight : 1 - z.weight);
        if (weight == 0) continue;        // not fetched: an H200 counts no sectors of such rows (`resize` in kernels.csv)
        std::array<uint32_t, 4> texel = read(t, host, right ? x.second : x.first, down ? y.second : y.first, deep ? z.second : z.first, out);
        for (unsigned i = 0; i < 4; ++i) sum[i] += weight * std::bit_cast<float>(texel[i]);
    }
    for (unsigned i = 0; i < 4; ++i) out.value[i] = std::bit_cast<uint32_t>(sum[i]);
    pad(out);
    return out;
}

Sample gather(const Texture& t, const std::byte* host, unsigned component, const Coordinates& c) {
    Sample out;
    Axis x = axis(t, 0, t.width, c, true), y = axis(t, 1, std::max(1u, t.height), c, true);
    int32_t z = layer_of(t, c.layer);
    const std::array<std::pair<int32_t, int32_t>, 4> order{{{x.first, y.second}, {x.second, y.second}, {x.second, y.first}, {x.first, y.first}}};
    for (unsigned i = 0; i < 4; ++i) out.value[i] = read(t, host, order[i].first, order[i].second, z, out)[component];
    pad(out);
    return out;
}

uint64_t texel_address(const Texture& t, uint32_t x, uint32_t y, uint32_t z) {
    if (!t.block_linear) return t.address + texel_offset(t, x, y, z);
    uint32_t b = x * (uint32_t(t.channels) * t.channel_bits / 8);
    uint64_t tile = uint64_t(y / 8) * ((t.row_bytes + 63) / 64) + b / 64;
    return t.address + z * t.slice_bytes + tile * 512 + b % 64 / 32 * 256 + y % 8 / 2 * 64 + b % 32 / 16 * 32 + y % 2 * 16 + b % 16;
}

uint32_t cube_face(float x, float y, float z, float& s, float& t) {
    float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z), major;
    uint32_t face;
    if (ax >= ay && ax >= az) {
        face = x >= 0 ? 0 : 1;
        major = ax;
        s = x >= 0 ? -z : z;
        t = -y;
    } else if (ay >= az) {
        face = y >= 0 ? 2 : 3;
        major = ay;
        s = x;
        t = y >= 0 ? z : -z;
    } else {
        face = z >= 0 ? 4 : 5;
        major = az;
        s = z >= 0 ? x : -x;
        t = -y;
    }
    s = (s / major + 1) / 2;
    t = (t / major + 1) / 2;
    return face;
}

}  // namespace lanescope::exec
