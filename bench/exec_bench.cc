// Thread instructions a second of the executor, on one core: functional, and with a listener that sees every access.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "exec/grid.h"
#include "exec/kernels_testing.h"
#include "ptx/parser.h"

namespace {

using namespace lanescope;
using namespace lanescope::exec;

struct Fixture {
    Fixture() {
        memory = std::move(DeviceMemory::create(uint64_t(1) << 32)).value();
        auto parsed = ptx::parse(kPtxHeader + kKernelsFile + kVectorAdd + kTranspose + kCompute, "bench.ptx");
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
