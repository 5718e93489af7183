#include "variants.h"

#include <array>
#include <cctype>
#include <stdexcept>

namespace lanescope::semantics {
namespace {

// ---- templates -------------------------------------------------------------------------------------------------------

void expand_line(const std::string& line, std::vector<std::string>& chosen, std::vector<Variant>& variants) {
    const size_t open = line.find('[');
    if (open == std::string::npos) {
        std::string text;
        for (size_t i = 0; i < line.size(); ++i) {
            if (line[i] == '$') text += chosen[size_t(line[++i] - '1')];
            else text += line[i];
        }
        variants.push_back(parse_variant(text));
        return;
    }
    const size_t close = line.find(']', open);
    size_t begin = open + 1;
    while (begin <= close) {
        const size_t end = std::min(line.find('|', begin), close);
        const std::string choice = line.substr(begin, end - begin);
        chosen.push_back(choice);
        expand_line(line.substr(0, open) + choice + line.substr(close + 1), chosen, variants);
        chosen.pop_back();
        begin = end + 1;
    }
}

unsigned register_bits(std::string_view type) {
    if (type == "pred") return 1;
    if (type.find("x2") != std::string_view::npos) return 32;
    const size_t digits = type.find_first_of("0123456789");
    const unsigned bits = unsigned(std::stoul(std::string(type.substr(digits))));
    return bits < 16 ? 16 : bits;
}

bool is_type(std::string_view word) {
    for (const std::string_view type : {"pred", "b8", "u8", "s8", "b16", "u16", "s16", "f16", "bf16", "b32", "u32", "s32", "f32", "f16x2",
                                        "bf16x2", "u16x2", "s16x2", "b64", "u64", "s64", "f64"})
        if (word == type) return true;
    return false;
}

// ---- input values ----------------------------------------------------------------------------------------------------

uint64_t mix(uint64_t value) {  // splitmix64
    value += 0x9e3779b97f4a7c15;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}

struct FloatLayout { unsigned exponent_bits, mantissa_bits; };

/// Sixteen values around which the rules change; every pair of them meets in the first 256 samples.
uint64_t special_float(const FloatLayout& f, unsigned i) {
    const uint64_t sign = uint64_t(1) << (f.exponent_bits + f.mantissa_bits), one = ((uint64_t(1) << (f.exponent_bits - 1)) - 1) << f.mantissa_bits;
    const uint64_t infinity = ((uint64_t(1) << f.exponent_bits) - 1) << f.mantissa_bits, ulp = 1, step = uint64_t(1) << f.mantissa_bits, half_step = step >> 1;
    const std::array<uint64_t, 16> values{0, sign, one, sign | one, infinity, sign | infinity, infinity | half_step, sign | infinity | ulp,
                                          ulp, sign | (step - 1), step, infinity - 1, sign | (one - ulp), one + half_step, one + ulp, sign | (one + step + half_step)};
    return values[i];
}
uint64_t random_float(const FloatLayout& f, unsigned k, unsigned sample, uint64_t random) {
    const unsigned width = 1 + f.exponent_bits + f.mantissa_bits;
    const uint64_t all = width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1, sign = uint64_t(1) << (width - 1);
    const uint64_t mantissa = random & ((uint64_t(1) << f.mantissa_bits) - 1), bias = (uint64_t(1) << (f.exponent_bits - 1)) - 1;
    const uint64_t top = (uint64_t(1) << f.exponent_bits) - 1, pick = random >> 55 & 7;
    const uint64_t signed_bit = (random >> 60 & 1) != 0 ? sign : 0, shared = mix(sample * 7919 + 13);
    const auto with_exponent = [&](uint64_t exponent) { return signed_bit | exponent << f.mantissa_bits | mantissa; };
    switch (sample % 8) {
        case 0: return random & all;
        case 1: return with_exponent(bias - 4 + pick);                                           // near one
        case 2: return signed_bit | (((bias + pick) << f.mantissa_bits) + ((random & 3) << (f.mantissa_bits > 3 ? f.mantissa_bits - 3 : 0)));  // few bits: ties
        case 3: return with_exponent(pick);                                                      // tiny and subnormal
        case 4: return with_exponent(top - 1 - pick % 4);                                        // huge
        case 5: return ((shared & all) ^ (k != 0 ? sign : 0)) + (random & 1);                    // operands nearly cancel
        case 6: return with_exponent(bias / 2 + (random >> 40) % (bias > 40 ? 40 : bias));       // products near the lower limit
        default: return with_exponent(bias - f.mantissa_bits + (random >> 40) % (2 * f.mantissa_bits));
    }
}
/// For matrix operands: mostly numbers whose sums stay finite, 16 warps of different spread.
uint64_t gentle_float(const FloatLayout& f, unsigned sample, uint64_t random) {
    const unsigned warp = sample / 32;
    const uint64_t mantissa = random & ((uint64_t(1) << f.mantissa_bits) - 1), bias = (uint64_t(1) << (f.exponent_bits - 1)) - 1;
    const uint64_t sign = (random >> 60 & 1) << (f.exponent_bits + f.mantissa_bits);
    if (warp == 15) return special_float(f, unsigned(random >> 40) % 16);
    if (warp == 14) return sign | (random >> 50 & 3) << f.mantissa_bits | mantissa;
    const uint64_t spread = warp < 4 ? 2 : warp < 8 ? 6 : warp < 12 ? 12 : bias - 4 > 30 ? 30 : bias - 4;
    return sign | (bias - spread / 2 + (random >> 40) % (spread + 1)) << f.mantissa_bits | mantissa;
}

uint64_t integer(unsigned bits, unsigned k, unsigned sample, uint64_t random) {
    const uint64_t all = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1, top = uint64_t(1) << (bits - 1);
    const std::array<uint64_t, 16> values{0, 1, all, 2, top, top - 1, top + 1, 3, all - 1, 10, 7, uint64_t(0x0123456789abcdef), uint64_t(0x5555555555555555),
                                          uint64_t(1) << (bits / 2), (uint64_t(1) << (bits / 2)) - 1, uint64_t(0) - 10};
    if (sample < 256) return values[k == 0 ? sample / 16 : k == 1 ? sample % 16 : (sample * 5 + k) % 16] & all;
    const unsigned length = 1 + unsigned(random >> 56) % bits;  // numbers of every length, of both signs
    const uint64_t magnitude = mix(random) & (length == 64 ? ~uint64_t(0) : (uint64_t(1) << length) - 1);
    return ((random & 1) != 0 ? uint64_t(0) - magnitude : magnitude) & all;
}

uint64_t floating(const FloatLayout& f, bool gentle, unsigned k, unsigned sample, uint64_t random) {
    if (gentle) return gentle_float(f, sample, random);
    if (sample < 256) return special_float(f, k == 0 ? sample / 16 : k == 1 ? sample % 16 : (sample * 5 + k) % 16);
    return random_float(f, k, sample, random);
}

}  // namespace

std::vector<Variant> expand(std::string_view list) {
    std::vector<Variant> variants;
    while (!list.empty()) {
        const std::string line(list.substr(0, list.find('\n')));
        list.remove_prefix(std::min(list.size(), line.size() + 1));
        std::vector<std::string> chosen;
        if (!line.empty() && line[0] != '#') expand_line(line, chosen, variants);
    }
    return variants;
}

Variant parse_variant(std::string text) {
    Variant variant;
    bool operands = false, destination = false;
    int depth = 0;
    for (size_t i = 0; i < text.size();) {
        const char c = text[i];
        if (c == ' ' && !operands && i > 0 && std::isalnum(static_cast<unsigned char>(text[i - 1]))) operands = destination = true;
        if (c == ';') operands = false;
        if (c == '{') ++depth;
        if (c == '}') --depth;
        if (c == ',' && depth == 0) destination = false;
        if (!operands || !std::isalpha(static_cast<unsigned char>(c)) || text[i - 1] == '.') {
            // A word that is no operand: the mnemonic, a selector, a number.
            size_t end = i + 1;
            if (std::isalnum(static_cast<unsigned char>(c)))
                while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || (!operands && text[end] == '.'))) ++end;
            variant.code.append(text, i, end - i);
            i = end;
            continue;
        }
        size_t end = i;
        while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end]))) ++end;
        Slot slot;
        slot.type = text.substr(i, end - i);
        if (!is_type(slot.type)) throw std::runtime_error("no type: " + slot.type + " in " + text);
        slot.bits = register_bits(slot.type);
        slot.count = end < text.size() && text[end] == '#';
        auto& slots = destination ? variant.outputs : variant.inputs;
        variant.code += (destination ? 'o' : 'i') + std::to_string(slots.size());
        slots.push_back(slot);
        i = end + slot.count;
    }
    variant.text = std::move(text);
    return variant;
}

std::string_view module_header() { return ".version 9.0\n.target sm_90\n.address_size 64\n"; }

std::string kernel(const Variant& variant, std::string_view name) {
    std::string declarations, loads, stores;
    const auto each = [&](const std::vector<Slot>& slots, char letter, bool load) {
        for (size_t k = 0; k < slots.size(); ++k) {
            const std::string reg = letter + std::to_string(k), bits = std::to_string(slots[k].bits);
            const std::string place = "[" + std::string(load ? "in" : "out") + " + " + std::to_string(k * kSamples * 8) + "]";
            declarations += slots[k].bits == 1 ? "  .reg .pred " + reg + ";\n" : "  .reg .b" + bits + " " + reg + ";\n";
            if (slots[k].bits == 1) {
                if (load) loads += "  ld.global.u32 word, " + place + ";\n  setp.ne.u32 " + reg + ", word, 0;\n";
                else stores += "  selp.u32 word, 1, 0, " + reg + ";\n  st.global.u32 " + place + ", word;\n";
            } else if (load) {
                loads += "  ld.global.b" + bits + " " + reg + ", " + place + ";\n";
            } else {
                stores += "  st.global.b" + bits + " " + place + ", " + reg + ";\n";
            }
        }
    };
    each(variant.inputs, 'i', true);
    each(variant.outputs, 'o', false);
    return ".visible .entry " + std::string(name) + "(.param .u64 a, .param .u64 b)\n{\n  .reg .b32 word, thread, block;\n  .reg .b64 in, out, offset;\n" + declarations +
           "  ld.param.u64 in, [a];\n  ld.param.u64 out, [b];\n  mov.u32 thread, %tid.x;\n  mov.u32 block, %ctaid.x;\n  mov.u32 word, %ntid.x;\n"
           "  mad.lo.u32 thread, block, word, thread;\n  mul.wide.u32 offset, thread, 8;\n  add.u64 in, in, offset;\n  add.u64 out, out, offset;\n" +
           loads + "  " + variant.code + ";\n" + stores + "  ret;\n}\n";
}

std::string bare_module(const Variant& variant) {
    std::string declarations;
    for (const auto& [slots, letter] : {std::pair{&variant.inputs, 'i'}, std::pair{&variant.outputs, 'o'}})
        for (size_t k = 0; k < slots->size(); ++k)
            declarations += ".reg ." + ((*slots)[k].bits == 1 ? "pred" : "b" + std::to_string((*slots)[k].bits)) + " " + letter + std::to_string(k) + ";\n";
    return std::string(module_header()) + ".visible .entry k()\n{\n" + declarations + variant.code + ";\nret;\n}\n";
}

uint64_t input(const Variant& variant, unsigned k, unsigned sample) {
    const Slot& slot = variant.inputs[k];
    const bool matrix = variant.text.starts_with("mma");
    const uint64_t random = mix(uint64_t(k) << 32 | sample << 8 | slot.bits);
    if (slot.count) {  // around every place where a shift or a field ends
        const uint64_t value = sample < 256 ? (k == 1 ? sample % 72 : sample / 16 * 5 % 72) : random % 80;
        return random >> 40 & 31 ? value : (random & 0xffffffff);
    }
    if (slot.type == "pred") return random & 1;
    if (slot.type == "f32") return floating({8, 23}, matrix, k, sample, random);
    if (slot.type == "f64") return floating({11, 52}, matrix, k, sample, random);
    if (slot.type == "f16") return floating({5, 10}, matrix, k, sample, random);
    if (slot.type == "bf16") return floating({8, 7}, matrix, k, sample, random);
    if (slot.type == "f16x2" || slot.type == "bf16x2") {
        const FloatLayout layout = slot.type == "f16x2" ? FloatLayout{5, 10} : FloatLayout{8, 7};
        return floating(layout, matrix, k, sample, random) | floating(layout, matrix, k, (sample * 37 + 11) % kSamples / (matrix ? kSamples : 1) + (matrix ? sample : 0), mix(random)) << 16;
    }
    const bool fp8 = variant.text.find(".e4m3.") != std::string::npos || variant.text.find(".e5m2.") != std::string::npos;
    if (matrix && fp8) return random & (sample < 480 ? 0xf7f7f7f7 : 0xffffffff);  // no infinities and NaNs but in the last warp
    if (matrix && slot.bits == 32) return random & 0xffffffff;
    if (slot.type == "u8" || slot.type == "s8" || slot.type == "b8") return integer(16, k, sample, random);
    return integer(slot.bits, k, sample, random);
}

uint32_t input_checksum(const Variant& variant) {
    uint64_t sum = 0;
    for (unsigned k = 0; k < variant.inputs.size(); ++k)
        for (unsigned sample = 0; sample < kSamples; ++sample) sum = mix(sum ^ input(variant, k, sample));
    return uint32_t(sum);
}

}  // namespace lanescope::semantics
