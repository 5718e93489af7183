// Thread instructions a second of the executor, on one core: functional, and with a listener that sees every access.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "exec/grid.h"
#include "ptx/parser.h"

namespace {

using namespace lanescope;
using namespace lanescope::exec;

const char* const kPtx = R"(
.version 8.5
.target sm_90
.address_size 64
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {
    .reg .b32 %r<6>; .reg .b64 %rd<11>; .reg .f32 %f<4>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u32 %r2, [n];
    mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
    mad.lo.s32 %r1, %r3, %r4, %r5;
    setp.ge.s32 %p1, %r1, %r2;
    @%p1 bra $done;
    cvta.to.global.u64 %rd4, %rd1;
    mul.wide.s32 %rd5, %r1, 4;
    add.s64 %rd6, %rd4, %rd5;
    cvta.to.global.u64 %rd7, %rd2;
    add.s64 %rd8, %rd7, %rd5;
    ld.global.f32 %f1, [%rd8];
    ld.global.f32 %f2, [%rd6];
    add.f32 %f3, %f2, %f1;
    cvta.to.global.u64 %rd9, %rd3;
    add.s64 %rd10, %rd9, %rd5;
    st.global.f32 [%rd10], %f3;
$done: ret; }

// A 1024 x 1024 transpose by tiles of 32 x 32 in shared memory, blocks of 32 x 8, as nvcc unrolls it.
.visible .entry transpose(.param .u64 in, .param .u64 out, .param .u32 width) {
    .reg .b32 %r<40>; .reg .b64 %rd<30>; .reg .f32 %f<9>;
    .shared .align 4 .b8 tile[4224];
    ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u32 %r1, [width];
    cvta.to.global.u64 %rd3, %rd1; cvta.to.global.u64 %rd4, %rd2;
    mov.u32 %r2, %ctaid.x; shl.b32 %r3, %r2, 5; mov.u32 %r4, %tid.x; add.s32 %r5, %r3, %r4;
    mov.u32 %r6, %ctaid.y; shl.b32 %r7, %r6, 5; mov.u32 %r8, %tid.y; add.s32 %r9, %r7, %r8;
    mad.lo.s32 %r10, %r9, %r1, %r5;
    mul.wide.s32 %rd5, %r10, 4; add.s64 %rd6, %rd3, %rd5;
    mov.u32 %r11, tile; mad.lo.s32 %r12, %r8, 132, %r11; shl.b32 %r13, %r4, 2; add.s32 %r14, %r12, %r13;
    shl.b32 %r15, %r1, 3; mul.wide.s32 %rd7, %r15, 4;
    ld.global.f32 %f1, [%rd6]; st.shared.f32 [%r14], %f1;
    add.s64 %rd8, %rd6, %rd7; ld.global.f32 %f2, [%rd8]; st.shared.f32 [%r14+1056], %f2;
    add.s64 %rd9, %rd8, %rd7; ld.global.f32 %f3, [%rd9]; st.shared.f32 [%r14+2112], %f3;
    add.s64 %rd10, %rd9, %rd7; ld.global.f32 %f4, [%rd10]; st.shared.f32 [%r14+3168], %f4;
    bar.sync 0;
    add.s32 %r16, %r7, %r4; add.s32 %r17, %r3, %r8;
    mad.lo.s32 %r18, %r17, %r1, %r16; mul.wide.s32 %rd11, %r18, 4; add.s64 %rd12, %rd4, %rd11;
    mad.lo.s32 %r19, %r4, 132, %r11; shl.b32 %r20, %r8, 2; add.s32 %r21, %r19, %r20;
    ld.shared.f32 %f5, [%r21]; st.global.f32 [%rd12], %f5;
    add.s64 %rd13, %rd12, %rd7; ld.shared.f32 %f6, [%r21+32]; st.global.f32 [%rd13], %f6;
    add.s64 %rd14, %rd13, %rd7; ld.shared.f32 %f7, [%r21+64]; st.global.f32 [%rd14], %f7;
    add.s64 %rd15, %rd14, %rd7; ld.shared.f32 %f8, [%r21+96]; st.global.f32 [%rd15], %f8;
    ret; }

// 256 multiplications and additions a thread: arithmetic only.
.visible .entry compute(.param .u64 out, .param .u32 rounds) {
    .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .f32 %f<4>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [rounds];
    mov.u32 %r2, %tid.x; cvt.rn.f32.u32 %f1, %r2; mov.f32 %f2, 0f3F800000; mov.u32 %r3, 0;
$loop:
    fma.rn.f32 %f2, %f2, %f1, %f1; fma.rn.f32 %f1, %f1, 0f3F000000, %f2; fma.rn.f32 %f2, %f2, %f1, %f1; fma.rn.f32 %f1, %f1, 0f3F000000, %f2;
    add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r1;
    @%p1 bra $loop;
    mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; st.global.f32 [%rd3], %f1;
    ret; }
)";

struct Fixture {
    Fixture() {
        memory = std::move(DeviceMemory::create(uint64_t(1) << 32)).value();
        auto parsed = ptx::parse(kPtx, "bench.ptx");
        if (!parsed.ok()) {
            std::fprintf(stderr, "%s\n", base::to_string(parsed.errors()).c_str());
            std::abort();
        }
        program = std::move(Program::load(std::make_shared<ptx::Module>(std::move(parsed).value()), *memory)).value();
    }
    std::unique_ptr<DeviceMemory> memory;
    std::unique_ptr<Program> program;
};

/// Counts accesses, and that the lanes' addresses are looked at.
struct Counting : Listener {
    uint64_t sectors = 0;
    uint32_t on_access(const AccessEvent& event) override {
        uint64_t last = UINT64_MAX;
        for (uint32_t rest = event.active; rest != 0; rest &= rest - 1) {
            const uint64_t sector = event.addresses[__builtin_ctz(rest)] / 32;
            sectors += sector != last;
            last = sector;
        }
        return event.space == Space::kShared ? 30 : 600;
    }
};

void run(benchmark::State& state, const char* name, Dim3 grid, Dim3 block, uint64_t words, std::vector<uint64_t> tail, bool counted, unsigned buffers) {
    Fixture fixture;
    std::vector<uint64_t> parameters;
    for (unsigned i = 0; i < buffers; ++i) parameters.push_back(fixture.memory->allocate(words * 4)->begin);
    parameters.insert(parameters.end(), tail.begin(), tail.end());
    Launch launch;
    launch.grid = grid;
    launch.block = block;
    launch.parameters = std::as_bytes(std::span(parameters));
    Counting counting;
    Machine machine;
    machine.resident_blocks = 8;
    uint64_t instructions = 0;
    for (auto _ : state) {
        const GridResult result = run_grid(*fixture.program->kernel(name), launch, *fixture.memory, machine, counted ? &counting : nullptr, {});
        if (result.fault) state.SkipWithError(result.fault->message.c_str());
        instructions += result.thread_instructions;
    }
    state.counters["thread_instructions"] = benchmark::Counter(double(instructions), benchmark::Counter::kIsRate);
}

constexpr uint64_t kWords = 1 << 22;

void vector_add(benchmark::State& state) { run(state, "add", {kWords / 256}, {256}, kWords, {kWords}, state.range(0) != 0, 3); }
void transpose(benchmark::State& state) { run(state, "transpose", {64, 64}, {32, 8}, kWords, {2048}, state.range(0) != 0, 2); }
void compute(benchmark::State& state) { run(state, "compute", {512}, {256}, 256, {64}, state.range(0) != 0, 1); }

BENCHMARK(vector_add)->ArgName("listener")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(transpose)->ArgName("listener")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(compute)->ArgName("listener")->Arg(0)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
