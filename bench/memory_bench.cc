// Thread instructions a second on one core with everything on: executor, the whole memory model of an H200 with cold caches, counts folded
// into source lines. `model:0` is the executor alone, `model:2` looks for
// races and reads of undefined memory as well, in the same run.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "emulator/accounting.h"
#include "exec/grid.h"
#include "exec/kernels_testing.h"
#include "gpu/description.h"
#include "hazard/detector.h"
#include "memory/model.h"
#include "profile/catalogue.h"
#include "ptx/parser.h"

namespace {

using namespace lanescope;
using exec::Dim3;

template <class T>
T must(base::Result<T> result) {
    if (!result) {
        std::fprintf(stderr, "%s\n", base::to_string(result.errors()).c_str());
        std::exit(1);
    }
    return std::move(result).value();
}

struct Case {
    const char* kernel;
    Dim3 grid, block;
    unsigned buffers;                     ///< parameters that are addresses, of kWords words each; others follow
    std::vector<uint64_t> parameters;
};

constexpr uint64_t kWords = 1 << 22;

void run(benchmark::State& state, const Case& each) {
    const auto memory = must(exec::DeviceMemory::create(uint64_t(1) << 32));
    const auto program = must(exec::Program::load(
        std::make_shared<ptx::Module>(must(ptx::parse(exec::kPtxHeader + exec::kKernelsFile + exec::kVectorAdd + exec::kStrided + exec::kTranspose, "bench.ptx"))), *memory));
    const exec::Kernel& kernel = *program->kernel(each.kernel);
    std::vector<uint64_t> parameters;
    for (unsigned i = 0; i < each.buffers; ++i) parameters.push_back(memory->allocate(kWords * 4)->begin);
    parameters.insert(parameters.end(), each.parameters.begin(), each.parameters.end());
    exec::Launch launch;
    launch.grid = each.grid;
    launch.block = each.block;
    launch.parameters = std::as_bytes(std::span(parameters));

    const gpu::Description gpu = must(gpu::load("h200"));
    memory::Model model(gpu, {});
    exec::Machine machine;
    machine.sms = gpu.sms;
    machine.resident_blocks = gpu.max_warps_per_sm * exec::kWarpLanes / uint32_t(each.block.count());
    const bool modelled = state.range(0) != 0;
    const bool watched = state.range(0) == 2;
    hazard::Detector detector(true, true);
    uint64_t instructions = 0;
    for (auto _ : state) {
        emulator::Accounting accounting(kernel, model);
        if (modelled) model.begin_launch({.sites = accounting.slots(), .blocks_per_sm = machine.resident_blocks, .warps_per_block = uint32_t(each.block.count()) / exec::kWarpLanes});
        exec::Sinks sinks;
        if (watched) {
            detector.begin({&kernel, each.grid, each.block}, *memory, false, {});
            sinks.monitor = &detector;
        }
        const exec::GridResult result = exec::run_grid(kernel, launch, *memory, machine, modelled ? &accounting : nullptr, sinks);
        if (result.fault) state.SkipWithError(result.fault->message.c_str());
        instructions += result.thread_instructions;
        if (!modelled) continue;
        model.end_launch();
        profile::Launch record;
        accounting.fold(record, true);
        profile::roll_up(record);
        benchmark::DoNotOptimize(record);
    }
    state.counters["thread_instructions"] = benchmark::Counter(double(instructions), benchmark::Counter::kIsRate);
}

const Case kVectorAdd{"add", {kWords / 256}, {256}, 3, {kWords}};
const Case kStrided{"strided", {kWords / 16 / 256}, {256}, 2, {16}};
const Case kTranspose{"transpose", {64, 64}, {32, 8}, 2, {2048}};

#define MODEL(name, each) BENCHMARK_CAPTURE(run, name, each)->ArgName("model")->Arg(0)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)
MODEL(vector_add, kVectorAdd);
MODEL(strided, kStrided);
MODEL(transpose, kTranspose);

}  // namespace

BENCHMARK_MAIN();
