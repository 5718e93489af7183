// lanescope's arithmetic against what a real GPU computed for the same inputs.
#include "replay.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>

#include "recording.h"
#include "tolerance.h"

namespace lanescope::semantics {
namespace {

const Recording& recording() {
    static const Recording value = read_recording(LANESCOPE_SOURCE_DIR "/tests/semantics/h200/semantics.zst");
    return value;
}

std::string describe(const RecordedVariant& recorded, unsigned sample, size_t output, uint64_t ours) {
    char buffer[64];
    std::string text = recorded.variant.text + " of";
    for (unsigned k = 0; k < recorded.variant.inputs.size(); ++k) {
        std::snprintf(buffer, sizeof buffer, " %llx", static_cast<unsigned long long>(input(recorded.variant, k, sample)));
        text += buffer;
    }
    std::snprintf(buffer, sizeof buffer, ": hardware %llx, lanescope %llx", static_cast<unsigned long long>(recorded.outputs[output][sample]), static_cast<unsigned long long>(ours));
    return text + buffer;
}

/// Whether the sample is one that the documented bound speaks of.
bool in_domain(const Variant& variant, const Tolerance& tolerance, unsigned sample, unsigned shift, std::string_view element) {
    const double argument = value_of(input(variant, 0, sample) >> shift & (element.ends_with("16") ? 0xffff : ~uint64_t(0)), element);
    return !(std::fabs(argument) > tolerance.domain) || std::isinf(argument);
}

/// The first result that is too far off, or nothing.
std::string first_difference(const RecordedVariant& recorded, const Replayed& ours) {
    const Tolerance* tolerance = tolerance_of(recorded.variant.text);
    for (size_t k = 0; k < recorded.outputs.size(); ++k) {
        std::string_view element = recorded.variant.outputs[k].type;
        const bool pair = element.ends_with("x2");
        if (pair) element.remove_suffix(2);
        for (unsigned sample = 0; sample < kSamples; ++sample) {
            const uint64_t expected = recorded.outputs[k][sample], code = ours.outputs[k][sample];
            bool good = code == expected;
            if (!good && tolerance != nullptr) {
                good = true;
                for (unsigned shift = 0; shift < (pair ? 32u : 16u); shift += 16) {
                    const uint64_t part = pair ? 0xffff : ~uint64_t(0);
                    good &= !in_domain(recorded.variant, *tolerance, sample, shift, element) || within(code >> shift & part, expected >> shift & part, element, *tolerance);
                }
            }
            if (!good) return describe(recorded, sample, k, code);
        }
    }
    return {};
}

TEST(Semantics, EveryRecordedResultIsReproduced) {
    size_t compared = 0;
    for (const RecordedVariant& recorded : recording().variants) {
        ASSERT_EQ(recorded.checksum, input_checksum(recorded.variant)) << "recorded with other inputs: " << recorded.variant.text;
        const Replayed ours = replay(recorded.variant);
        if (!ours.failure.empty()) {
            ADD_FAILURE() << recorded.variant.text << ": " << ours.failure;
            continue;
        }
        if (departs_from_isa(recorded.variant.text)) continue;
        EXPECT_EQ(first_difference(recorded, ours), "");
        ++compared;
    }
    EXPECT_GE(compared, 1950u);
}

TEST(Semantics, TheComparisonNoticesADifference) {
    // One bit of one result changed: exact variants must fail, and approximate ones by twice their bound.
    for (const RecordedVariant& recorded : recording().variants) {
        if (recorded.variant.text != "add.rz.f32 f32, f32, f32" && recorded.variant.text != "setp.lt.s32 pred, s32, s32") continue;
        Replayed changed{recorded.outputs, ""};
        EXPECT_EQ(first_difference(recorded, changed), "");
        changed.outputs[0][300] ^= 1;
        EXPECT_NE(first_difference(recorded, changed), "");
    }
}

TEST(Tolerance, RejectsDouble) {
    // 1.0 and relative 2^-10: a step of f32 is 2^-23. Allowed is 2^-10 and one step.
    const Tolerance tolerance{0x1p-10, 0};
    const auto f32 = [](float value) { uint32_t bits = 0; std::memcpy(&bits, &value, 4); return uint64_t(bits); };
    EXPECT_TRUE(within(f32(1 + 0x1p-10f), f32(1), "f32", tolerance));
    EXPECT_FALSE(within(f32(1 + 0x1p-9f), f32(1), "f32", tolerance));
    EXPECT_FALSE(within(0x7fc00000, f32(1), "f32", tolerance));
    EXPECT_FALSE(within(0x7f800000, 0x7f7fffff, "f32", tolerance));
    EXPECT_TRUE(within(0x3c01, 0x3c00, "f16", {0, 0}));   // neighbours: the rounding of one of them
    EXPECT_FALSE(within(0x3c02, 0x3c00, "f16", {0, 0}));
}

TEST(Variants, TemplatesExpand) {
    const auto variants = expand("# comment\n[add|sub].[u32|s64] $2, $2, 3\n");
    ASSERT_EQ(variants.size(), 4u);
    EXPECT_EQ(variants[1].text, "add.s64 s64, s64, 3");
    EXPECT_EQ(variants[3].code, "sub.s64 o0, i0, 3");
}

}  // namespace
}  // namespace lanescope::semantics
