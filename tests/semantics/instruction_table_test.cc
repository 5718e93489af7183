// docs/instructions.md says of every computing instruction how it is proved; this derives the table and compares.
// LANESCOPE_REWRITE=1 writes it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "ptx/opcode.h"
#include "recording.h"
#include "replay.h"
#include "tolerance.h"

namespace lanescope::semantics {
namespace {

using ptx::Opcode;

const std::string kRoot = LANESCOPE_SOURCE_DIR;
const std::string kTable = kRoot + "/docs/instructions.md";

std::string slurp(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

struct Proof {
    unsigned exact = 0;       ///< forms whose every bit equals the recording
    unsigned bounded = 0;     ///< forms within the bound that PTX states
    unsigned departing = 0;   ///< recorded forms where the machine code of sm_90 departs from the PTX ISA
    unsigned unproved = 0;    ///< forms that the recorded GPU does not have
};

std::map<Opcode, Proof> proofs() {
    std::map<Opcode, Proof> result;
    const auto each_opcode = [&](const Variant& variant, auto count) {
        for (size_t at = 0; at != std::string::npos; at = variant.text.find("; ", at)) {
            at += variant.text.compare(at, 2, "; ") == 0 ? 2 : 0;
            const auto match = ptx::find_opcode(std::string_view(variant.text).substr(at));
            if (match) count(result[match->opcode]);
        }
    };
    for (const RecordedVariant& recorded : read_recording(kRoot + "/tests/semantics/h200/semantics.zst").variants) {
        const std::string& text = recorded.variant.text;
        each_opcode(recorded.variant, [&](Proof& proof) { ++(departs_from_isa(text) ? proof.departing : tolerance_of(text) != nullptr ? proof.bounded : proof.exact); });
    }
    for (const Variant& variant : expand(slurp(kRoot + "/tests/semantics/unrecorded.txt"))) each_opcode(variant, [](Proof& proof) { ++proof.unproved; });
    return result;
}

std::string table() {
    std::string text =
        "# Instructions\n\n"
        "Every computing instruction of PTX ISA 9.0 and how its results are proved. *exact*: forms (types and modifiers) whose results equal\n"
        "those of an NVIDIA H200 in every bit, for 512 inputs each; *bounded*: approximations within the error that the PTX ISA states;\n"
        "*by the text*: forms computed as the PTX ISA defines them, without hardware to compare with (the GPU lacks them, or translates them\n"
        "to machine code that departs from the text, as it does for some saturating video instructions). Recording, inputs and bounds:\n"
        "`tests/semantics`. Forms that are not listed are reported when they are executed; of cvt this is stochastic rounding (`.rs`).\n\n"
        "| instruction | exact | bounded | by the text |\n|---|---:|---:|---:|\n";
    const auto cell = [](unsigned count) { return count == 0 ? std::string() : std::to_string(count); };
    const auto known = proofs();
    for (unsigned i = 0; i < ptx::kOpcodes; ++i) {
        const auto it = known.find(Opcode(i));
        if (it == known.end()) continue;
        const Proof& proof = it->second;
        text += "| " + std::string(ptx::to_string(Opcode(i))) + " | " + cell(proof.exact) + " | " + cell(proof.bounded) + " | " + cell(proof.departing + proof.unproved) + " |\n";
    }
    return text;
}

TEST(InstructionTable, EveryComputingInstructionIsProved) {
    const auto known = proofs();
    for (unsigned i = 0; i < ptx::kOpcodes; ++i) {
        const auto opcode = Opcode(i);
        if (ptx::class_of(opcode) != ptx::OpcodeClass::kArithmetic || opcode == Opcode::kCvta) continue;  // cvta: address spaces are the executor's
        EXPECT_TRUE(known.contains(opcode)) << ptx::to_string(opcode);
    }
}

TEST(InstructionTable, UnrecordedFormsHaveSemantics) {
    for (const Variant& variant : expand(slurp(kRoot + "/tests/semantics/unrecorded.txt"))) EXPECT_EQ(replay(variant).failure, "") << variant.text;
}

TEST(InstructionTable, DocumentIsCurrent) {
    if (std::getenv("LANESCOPE_REWRITE") != nullptr) std::ofstream(kTable, std::ios::binary) << table();
    EXPECT_EQ(slurp(kTable), table()) << "run semantics_test with LANESCOPE_REWRITE=1";
}

}  // namespace
}  // namespace lanescope::semantics
