// Structure and places; the forms of PTX text are in tests/golden/ptx.
#include "ptx/parser.h"

#include <gtest/gtest.h>

#include <chrono>

#include "ptx/lookup.h"
#include "ptx/printer.h"

namespace lanescope::ptx {
namespace {

constexpr std::string_view kHeader = ".version 8.0\n.target sm_80\n.address_size 64\n";

Module parsed(std::string_view text) {
    auto module = parse(std::string(kHeader) + std::string(text), "test.ptx");
    EXPECT_TRUE(module.ok()) << base::to_string(module.errors());
    return module.ok() ? *std::move(module) : Module();
}

const char* const kKernel = R"(
.global .align 4 .b32 data[64];
.visible .entry kernel(.param .u64 kernel_param_0, .param .u32 kernel_param_1)
{
    .reg .pred %p<2>;
    .reg .b32 %r<100>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [kernel_param_0];
    @!%p1 bra DONE;
    ld.global.nc.L1::no_allocate.v2.u32 {%r7, %r3}, [%rd1+16];
    setp.lt.s32 %p1, %r3, -2;
DONE:
    ret;
}
)";

TEST(Parser, InstructionsSayWhatTheirWordsMean) {
    const Module module = parsed(kKernel);
    ASSERT_EQ(module.functions.size(), 1u);
    const Function& kernel = module.functions[0];
    ASSERT_EQ(kernel.body.size(), 5u);
    const Instruction& load = kernel.body[2];
    EXPECT_EQ(load.opcode, Opcode::kLd);
    EXPECT_EQ(load.space, Space::kGlobal);
    EXPECT_EQ(load.vector, 2);
    EXPECT_EQ(load.types[0], Type::kU32);
    EXPECT_EQ(load.types[1], Type::kNone);
    EXPECT_EQ(load.suffixes, (std::vector{Suffix::kGlobal, Suffix::kNc, Suffix::kL1NoAllocate, Suffix::kV2, Suffix::kU32}));
    ASSERT_EQ(load.operands.size(), 2u);
    EXPECT_EQ(load.operands[0].kind, Operand::Kind::kVector);
    EXPECT_EQ(load.operands[1].kind, Operand::Kind::kAddress);
    EXPECT_EQ(load.operands[1].value, 16);
    EXPECT_EQ(kernel.registers[load.operands[1].elements[0].index].name, "%rd1");
    EXPECT_EQ(load.line, 13u);  // 3 lines of header, an empty one, and the ninth of the kernel
    EXPECT_EQ(load.column, 5u);
}

TEST(Parser, RegistersAreThoseInUseInTheOrderOfTheirFirst) {
    const Module module = parsed(kKernel);
    std::vector<std::string> names;
    for (const Register& reg : module.functions[0].registers) names.push_back(reg.name);
    EXPECT_EQ(names, (std::vector<std::string>{"%rd1", "%p1", "%r7", "%r3"}));
    EXPECT_EQ(module.functions[0].registers[0].type, Type::kB64);
}

TEST(Parser, GuardsLabelsAndParameters) {
    const Module module = parsed(kKernel);
    const Function& kernel = module.functions[0];
    const Instruction& branch = kernel.body[1];
    EXPECT_TRUE(branch.guard.negated);
    EXPECT_EQ(kernel.registers[branch.guard.predicate].name, "%p1");
    ASSERT_EQ(branch.operands[0].kind, Operand::Kind::kLabel);
    EXPECT_EQ(kernel.labels[branch.operands[0].index].position, 4u);
    EXPECT_EQ(kernel.parameter_symbols, (std::vector<uint32_t>{0, 1}));
    const Operand& base = kernel.body[0].operands[1].elements[0];
    EXPECT_EQ(base.kind, Operand::Kind::kVariable);
    EXPECT_TRUE(base.local_symbol);
    EXPECT_EQ(base.index, 0u);
}

TEST(Parser, CallsAlwaysHaveThreeOperands) {
    const Module module = parsed(R"(.func quiet { ret; }
.entry e() { .reg .b64 %f; call quiet; call %f, prototype; prototype: .callprototype _; })");
    const Function& entry = *find_function(module, "e");
    ASSERT_EQ(entry.body[0].operands.size(), 3u);
    EXPECT_EQ(entry.body[0].operands[0].kind, Operand::Kind::kList);
    EXPECT_EQ(entry.body[0].operands[1].kind, Operand::Kind::kFunction);
    EXPECT_EQ(entry.body[0].operands[2].kind, Operand::Kind::kList);
    ASSERT_EQ(entry.body[1].operands.size(), 4u);
    EXPECT_EQ(entry.body[1].operands[3].kind, Operand::Kind::kTable);
    EXPECT_TRUE(entry.body[1].operands[3].local_symbol);
}

TEST(Parser, EntriesStandBehindOtherFunctions) {
    const Module module = parsed(".entry first() { ret; } .func second { ret; } .entry third() { call second; }");
    EXPECT_EQ(module.functions[0].name, "second");
    EXPECT_EQ(module.functions[1].name, "first");
    EXPECT_EQ(find_function(module, "third")->body[0].operands[1].index, 0u);
}

TEST(Parser, InitializersBecomeBytesAndRelocations) {
    const Module module = parsed(R"(.global .b8 text[4] = {104, 105};
.global .u64 pointers[3] = {7, generic(text)+2, text};
.global .u8 parts[3] = {1, 0xff00(text), 3};)");
    EXPECT_EQ(module.variables[0].initializer, (std::vector<uint8_t>{104, 105}));
    EXPECT_EQ(module.variables[0].bytes(), 4u);
    const Variable& pointers = module.variables[1];
    EXPECT_EQ(pointers.initializer.size(), 24u);
    EXPECT_EQ(pointers.initializer[0], 7);
    ASSERT_EQ(pointers.relocations.size(), 2u);
    EXPECT_EQ(pointers.relocations[0], (Relocation{8, false, 0, 2, true, 8, 0}));
    EXPECT_EQ(pointers.relocations[1], (Relocation{16, false, 0, 0, false, 8, 0}));
    // The mask 0xff00 selects the second byte: 8 bits to shift away, 1 byte to store.
    EXPECT_EQ(module.variables[2].relocations[0], (Relocation{1, false, 0, 0, false, 1, 8}));
}

TEST(Parser, UnusedBytesOfAVectorLoad) {
    const Module module = parsed(R"(.entry e() { .reg .b64 %rd; .reg .b32 %r<4>;
    .pragma "used_bytes_mask 61455";
    ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%rd];
    ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%rd]; })");
    EXPECT_EQ(used_bytes(module.functions[0], 0), 0xF00Fu);  // 61455 = 0xF00F: x and w
    EXPECT_EQ(used_bytes(module.functions[0], 1), std::nullopt);
}

TEST(Parser, ErrorsCarryTheirPlaceAndLine) {
    const auto module = parse(std::string(kHeader) + ".entry e() {\n\t.reg .b32 %r<2>;\n\tadd.s32 %r0, %r1, %r5;\n}\n", "k.ptx");
    ASSERT_FALSE(module.ok());
    ASSERT_EQ(module.errors().size(), 1u);
    const base::Diagnostic& error = module.errors()[0];
    // Line 6: three of the header, `.entry`, `.reg`, then this one; the tab is one column.
    EXPECT_EQ(error.place, (base::Place{"k.ptx", 6, 20}));
    EXPECT_EQ(error.source_line, "\tadd.s32 %r0, %r1, %r5;");
    EXPECT_EQ(error.message, "unknown register '%r5'");
}

TEST(Parser, GivesUpAfterTwentyErrors) {
    std::string text = std::string(kHeader) + ".entry e() {\n";
    for (int i = 0; i < 100; ++i) text += "nonsense;\n";
    const auto module = parse(text + "}", "k.ptx");
    ASSERT_FALSE(module.ok());
    EXPECT_EQ(module.errors().size(), 21u);  // twenty and the note that there are more
    EXPECT_EQ(module.errors().back().severity, base::Severity::kNote);
}

TEST(Parser, TrailingZeroBytesEndTheText) {
    // The PTX in fat binaries is padded with them.
    EXPECT_TRUE(parse(std::string(kHeader) + std::string(3, '\0'), "k.ptx").ok());
    EXPECT_FALSE(parse("", "empty.ptx").ok());
}

TEST(Parser, HundredThousandLinesTakeWellUnderASecond) {
    std::string text = std::string(kHeader) + ".entry e() {\n.reg .b32 %r<1000>;\n.reg .pred %p<9>;\n";
    for (int i = 0; i < 100000; ++i)
        text += "\tmad.lo.s32 \t%r" + std::to_string(i % 1000) + ", %r" + std::to_string(i * 7 % 1000) + ", %r3, 12;\n";
    const auto start = std::chrono::steady_clock::now();
    const auto module = parse(text + "}\n", "big.ptx");
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    ASSERT_TRUE(module.ok());
    EXPECT_EQ(module->functions[0].body.size(), 100000u);
    // About 0.1 s without sanitizers; the limit leaves room for those and for busy machines, and catches quadratic work.
    EXPECT_LT(seconds.count(), 5);
}

}  // namespace
}  // namespace lanescope::ptx
