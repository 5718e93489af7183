#include "emulator/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <ctime>
#include <cstdio>
#include <set>

#include "base/demangle.h"
#include "emulator/accounting.h"
#include "emulator/host_fault.h"
#include "emulator/live_registers.h"
#include "gpu/clusters.h"
#include "profile/catalogue.h"
#include "ptx/link.h"
#include "ptx/parser.h"

namespace lanescope::emulator {
namespace {

/// Hardware allocates at least 16 registers a thread (launch__registers_per_thread of kernels whose cubin says 8 to 15).
constexpr uint32_t kLeastRegisters = 16;
/// Launches of one kernel whose accesses come with an example: later ones of a loop show nothing new and would fill the disk.
constexpr uint32_t kLaunchesWithExamples = 16;

memory::Settings model_settings(const Settings& settings) {
    return {.l1 = memory::Settings::L1(settings.l1), .cold = settings.cold, .counts_only = settings.counts_only};
}

}  // namespace

base::Result<std::unique_ptr<Context>> Context::create(const Settings& settings, std::vector<std::string> program) {
    base::Result<gpu::Description> gpu = gpu::load(settings.gpu);
    if (!gpu) return gpu.errors();
    base::Result<std::unique_ptr<exec::DeviceMemory>> memory = exec::DeviceMemory::create(gpu->memory_bytes);
    if (!memory) return memory.errors();
    base::Result<profile::LaunchSelector> selector = profile::LaunchSelector::make(settings.launches);
    if (!selector) return selector.errors();
    profile::Profile header;
    header.backend = "emulated";
    header.gpu_name = gpu->name;
    header.gpu_json = gpu::to_json(*gpu);
    header.argv = std::move(program);
    header.settings = describe(settings);
    std::unique_ptr<Context> context(new Context(settings, *std::move(gpu), *std::move(memory), std::move(header)));
    context->selector_ = *std::move(selector);
    return context;
}

Context::Context(Settings settings, gpu::Description gpu, std::unique_ptr<exec::DeviceMemory> memory, profile::Profile header)
    : settings_(std::move(settings)), gpu_(std::move(gpu)), memory_(std::move(memory)), model_(gpu_, model_settings(settings_)), managed_(*memory_, gpu_.page_faults, gpu_.max_warps_per_sm),
      journal_(settings_.session, std::move(header)), timeline_(gpu_.max_resident_grids) {
    if (journal_.open()) watch_host_accesses(memory_.get(), &journal_);
}

Context::~Context() { watch_host_accesses(nullptr, nullptr); }

base::Result<Module*> Context::load(std::vector<Source> sources, std::string cubin) {
    std::vector<ptx::Module> units;
    base::Diagnostics errors;
    for (const Source& source : sources) {
        base::Result<ptx::Module> unit = ptx::parse(source.ptx, source.name);
        if (unit) {
            units.push_back(*std::move(unit));
        } else {
            errors.insert(errors.end(), unit.errors().begin(), unit.errors().end());
        }
    }
    if (!errors.empty()) return errors;
    if (units.empty()) return base::error("no device code");
    // nvcc -rdc=true adds NVIDIA's device runtime, which needs what only its driver has. Units that cannot be linked are left out for as
    // long as others remain: a kernel that needs them will be missed when it is launched.
    base::Result<ptx::Module> whole = units.size() == 1 ? base::Result<ptx::Module>(units[0]) : ptx::link(units);
    while (!whole) {
        std::set<std::string> broken;
        for (const base::Diagnostic& error : whole.errors())
            if (error.severity == base::Severity::kError) broken.insert(error.place.file);
        size_t before = units.size();
        std::erase_if(units, [&](const ptx::Module& unit) { return broken.contains(unit.name); });
        std::erase_if(sources, [&](const Source& source) { return broken.contains(source.name); });
        if (units.empty() || units.size() == before) return whole.errors();
        whole = ptx::link(units);
    }
    base::Result<std::unique_ptr<exec::Program>> program = exec::Program::load(std::make_shared<const ptx::Module>(*std::move(whole)), *memory_);
    if (!program) return program.errors();
    auto module = std::make_unique<Module>();
    module->program_ = *std::move(program);
    module->sources_ = std::move(sources);
    module->cubin_ = std::move(cubin);
    modules_.push_back(std::move(module));
    return modules_.back().get();
}

void Context::unload(Module* module) {
    watch_.forget();
    std::erase_if(modules_, [&](const std::unique_ptr<Module>& each) { return each.get() == module; });
}

const ModuleFacts& Context::facts(Module& module) {
    if (module.facts_) return *module.facts_;
    ModuleFacts& facts = module.facts_.emplace();
    if (!module.cubin_.empty()) {
        if (base::Result<ModuleFacts> read = read_cubin(module.cubin_)) {
            module.facts_from_ = "the program's machine code";
            return facts = *std::move(read);
        }
    }
    // The described GPU's own architecture where ptxas still knows it, else the one that the PTX was compiled for.
    std::string_view target = module.ptx().target;
    uint32_t compiled_for = 0;
    for (char c : target.substr(std::min<size_t>(target.size(), 3)))
        if (c >= '0' && c <= '9') compiled_for = compiled_for * 10 + uint32_t(c - '0'); else break;
    for (uint32_t architecture : {gpu_.compute_capability, std::max(compiled_for, gpu_.compute_capability)}) {
        facts.clear();
        bool all = true;
        for (const Source& source : module.sources_) {
            base::Result<ModuleFacts> made = assemble(source.ptx, architecture, module.sources_.size() > 1, settings_.ptxas, cache_folder());
            if (!made) {
                all = false;
                break;
            }
            facts.merge(*made);
        }
        if (all) {
            module.facts_from_ = fmt::format("ptxas for sm_{}", architecture);
            return facts;
        }
    }
    facts.clear();
    return facts;
}

void Context::set_persisting_bytes(uint64_t bytes) {
    const uint64_t way = std::max<uint64_t>(1, gpu_.l2_bytes / std::max(1u, gpu_.l2_ways));
    persisting_bytes_ = (bytes + way - 1) / way * way;
    model_.set_persisting(persisting_bytes_);
}

base::Status Context::reset() {
    watch_.forget();
    modules_.clear();
    examples_.clear();
    textures_.clear();
    heap_.used = 0;
    grid_workspace_ = 0;
    watch_host_accesses(nullptr, nullptr);
    memory_.reset();                              // its addresses are fixed: the old arena must be gone first
    base::Result<std::unique_ptr<exec::DeviceMemory>> memory = exec::DeviceMemory::create(gpu_.memory_bytes);
    if (!memory) return memory.errors();
    memory_ = *std::move(memory);
    if (journal_.open()) watch_host_accesses(memory_.get(), &journal_);
    model_ = memory::Model(gpu_, model_settings(settings_));
    persisting_bytes_ = model_.persisting();
    managed_ = ManagedMemory(*memory_, gpu_.page_faults, gpu_.max_warps_per_sm);
    timeline_.host_waits_for_all();
    return {};
}

KernelResources Context::resources(Module& module, const exec::Kernel& kernel) {
    const ptx::Function& function = kernel.function();
    KernelResources out;
    out.static_shared_bytes = kernel.static_shared_bytes();
    out.local_bytes = kernel.local_bytes();
    out.constant_bytes = module.program().constant_bytes();
    uint64_t bound = 1;
    for (uint32_t n : function.required_threads[0] ? function.required_threads : function.max_threads) bound *= std::max(1u, n);
    out.max_threads = function.max_threads[0] || function.required_threads[0] ? uint32_t(std::min<uint64_t>(bound, gpu_.max_threads_per_block)) : gpu_.max_threads_per_block;

    const ModuleFacts& known = facts(module);
    if (auto found = known.find(function.name); found != known.end() && found->second.registers) {
        out.registers = std::max(kLeastRegisters, found->second.registers);
        out.registers_from = module.facts_from_;
        out.spill_bytes = found->second.frame_bytes > kernel.local_bytes() ? found->second.frame_bytes - kernel.local_bytes() : 0;
    } else {
        out.registers = std::max(kLeastRegisters, std::min(live_registers(kernel.function()), gpu_.max_registers_per_thread));
        out.registers_from = "an estimate from live registers";
        out.registers_estimated = true;
    }
    return out;
}

Occupancy Context::occupancy_of(Module& module, const exec::Kernel& kernel, uint32_t threads, uint64_t dynamic_shared_bytes, int carveout_percent) {
    KernelResources known = resources(module, kernel);
    return occupancy(gpu_, {.threads = threads, .registers_per_thread = known.registers, .shared_bytes = known.static_shared_bytes + dynamic_shared_bytes,
                            .carveout_percent = carveout_percent});
}

namespace {

/// By exec::Pipe: SM cycles for which one warp instruction takes it up. What the description does not say follows from the compute capability:
/// the CUDA programming guide's table of throughputs, and of matrix instructions the architecture papers' multiply-adds of half precision a clock.
std::array<double, exec::kPipes> pipe_cycles(const gpu::Description& gpu) {
    const uint32_t cc = gpu.compute_capability;
    const double special = gpu.special_lanes_per_sm, wide = std::min(special, double(gpu.fp64_lanes_per_sm));
    const double alu = cc == 60 ? 32 : 64, multiply = cc < 70 ? 32 : 64, convert = cc < 90 ? special : 64;
    const double matrix = cc < 70 ? 64 : cc == 80 ? 1024 : cc == 90 || cc == 100 ? 2048 : 512;
    return {0,         32. / gpu.fp32_lanes_per_sm, 32. / gpu.fp64_lanes_per_sm, 32. / special, 1. / gpu.schedulers_per_sm, 32 / alu, 32 / multiply, 32 / convert,
            32 / wide, 1,                           exec::kMatrixTurn / matrix};
}

}  // namespace

exec::Machine Context::machine(const Occupancy& occupancy, uint64_t block_shared_bytes) const {
    auto cycles = [&](double ns, uint32_t otherwise) { return ns > 0 ? uint32_t(ns * gpu_.clock_mhz / 1000 + 0.5) : otherwise; };
    exec::Machine machine;
    machine.sms = gpu_.sms;
    machine.resident_blocks = occupancy.blocks_per_sm;
    machine.schedulers = gpu_.schedulers_per_sm;
    machine.clock_khz = uint32_t(gpu_.clock_mhz * 1000);
    machine.blocks_launched_per_clock = gpu_.blocks_launched_per_clock;
    const timing::LaunchCosts costs = timing::launch_costs(gpu_);
    if (!settings_.cold) machine.first_sm = uint32_t(launches_ * (gpu_.sms / 4 / 2 * 2) % gpu_.sms);   // half of the SMs come to the other half of L2
    machine.sm_rank = gpu::clusters(gpu_).rank;
    machine.block_turnaround = cycles(costs.block_turnaround, 0);
    machine.warp_launch = costs.warp_launch * gpu_.clock_mhz / 1000;
    machine.compute_capability = gpu_.compute_capability;
    machine.pipe_cycles = pipe_cycles(gpu_);
    machine.shared_bytes_per_sm = uint32_t(std::max(occupancy.shared_config_bytes, block_shared_bytes));
    machine.global_latency = cycles(gpu_.l2_latency_ns, machine.global_latency);
    machine.shared_latency = cycles(gpu_.shared_latency_ns, machine.shared_latency);
    machine.time_limit_s = settings_.kernel_timeout_s;
    return machine;
}

Context::Simulated Context::simulate(const LaunchRequest& request, const KernelResources& known, Accounting* accounting, uint64_t more_shared_bytes,
                                     const exec::Sinks& sinks) {
    const exec::Kernel& kernel = *request.kernel;
    Simulated out;
    uint64_t shared = known.static_shared_bytes + request.dynamic_shared_bytes + more_shared_bytes;
    out.fit = occupancy(gpu_, {.threads = uint32_t(request.block.count()), .registers_per_thread = known.registers, .shared_bytes = shared,
                               .carveout_percent = request.carveout_percent});
    out.fit.blocks_per_sm = std::max(1u, out.fit.blocks_per_sm);
    if (accounting)
        model_.begin_launch({.sites = accounting->slots(), .blocks_per_sm = out.fit.blocks_per_sm, .warps_per_block = out.fit.warps_per_block,
                             .shared_bytes_per_block = shared, .local_bytes_per_thread = known.local_bytes, .l1_bytes = out.fit.l1_bytes, .window = request.window});
    exec::Launch launch{.grid = request.grid, .block = request.block, .cluster = request.cluster, .dynamic_shared_bytes = request.dynamic_shared_bytes,
                        .parameters = request.parameters, .grid_id = launches_ + 1};
    launch.stack_bytes = std::max(launch.stack_bytes, stack_bytes_);
    if (request.cooperative) launch.grid_workspace = grid_workspace_;
    out.result = exec::run_grid(kernel, launch, *memory_, machine(out.fit, shared), accounting, sinks);
    if (accounting) {
        accounting->finish();
        out.result.cycles = std::max(out.result.cycles, model_.end_launch());
    }
    timing::KernelWork& work = out.work;
    work = {.cycles = out.result.cycles, .parameters = kernel.parameter_bytes() != 0, .blocks = request.grid.count(),
            .issued = out.result.issued, .active_cycles = out.result.active_cycles, .warp_cycles = out.result.warp_cycles};
    const auto pipe = [&](exec::Pipe which) { return out.result.pipe_cycles[size_t(which)]; };
    work.fp32 = pipe(exec::Pipe::kFp32);
    work.fp64 = pipe(exec::Pipe::kFp64);
    work.special = pipe(exec::Pipe::kSpecial);
    work.sequences = pipe(exec::Pipe::kSequence);
    if (accounting) {
        work.memory = model_.busy();
        const auto add = [&](const memory::Counters& site) { work.dram_bytes += double(site.dram_read_bytes + site.dram_write_bytes); };
        add(model_.unattributed());
        for (const memory::Counters& site : model_.sites()) add(site);
    }
    out.duration_ns = timing::kernel_ns(gpu_, work.cycles, work.parameters);
    return out;
}

LaunchResult Context::launch(const LaunchRequest& request) {
    const exec::Kernel& kernel = *request.kernel;
    uint32_t threads = uint32_t(request.block.count());
    KernelResources known = resources(*request.module, kernel);
    if (request.cooperative) {
        constexpr uint64_t kWorkspaceBytes = 8;   // two words, of which the second is the barrier (cooperative_groups' driver ABI)
        if (!grid_workspace_)
            if (const exec::Allocation* workspace = memory_->allocate(kWorkspaceBytes, exec::Region::kDevice, "barrier of cooperative grids"))
                grid_workspace_ = workspace->begin;
        memory_->fill(grid_workspace_, 0, 1, kWorkspaceBytes);
    }
    exec::Sinks sinks;
    sinks.print = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
    sinks.error = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); };
    sinks.textures = &textures_;
    sinks.heap = &heap_;
    exec::DeviceLaunches children;
    sinks.launches = &children;
    sinks.start_ns = uint64_t(timeline_.host());
    const std::vector<AddressRange> remote = prepare_managed(request.stream);
    Accounting accounting(kernel, model_, managed_.any() ? &managed_ : nullptr);
    const bool profiled = collecting_ && journal_.open(), chosen = !profiled || selector_.takes(kernel.function().name);
    std::unique_ptr<Replay> copy;
    const bool wanted = profiled && chosen && wants_replay(request);
    const std::string no_copy = wanted ? too_large_to_copy() : std::string();
    if (wanted && no_copy.empty())
        copy = Replay::prepare([&](const analysis::Candidate& change) { return replay(request, known, change, sinks); }, [&] { return memory_->detach(); });
    sinks.monitor = watch_.begin(kernel, request.grid, request.block, request.stream, timeline_.order(request.stream), launches_, *memory_,
                                 gpu_.compute_capability < 70);
    const std::clock_t started = std::clock();   // of this process: what it takes on a busy machine decides no advice
    const Simulated simulated = simulate(request, known, chosen ? &accounting : nullptr, 0, sinks);
    const auto& [result, fit, work, execution] = simulated;
    const double took = double(std::clock() - started) / CLOCKS_PER_SEC;
    std::fflush(stdout);
    profile::Launch record;
    std::vector<profile::Transfer> caused;
    const double duration = execution + finish_managed(remote, record, caused);
    if (chosen) record_zero_copy(duration, caused);

    const uint64_t slots = uint64_t(fit.blocks_per_sm) * gpu_.sms;
    const double share = std::min(1.0, double(request.grid.count()) / double(slots));
    LaunchResult out{.fault = result.fault, .time = timeline_.enqueue(request.stream, Engine::kKernels, duration, share)};
    std::string unwatched;
    const std::vector<profile::Fault> findings = watch_.end(*memory_, unwatched);
    const uint64_t index = launches_;
    if (profiled) ++launches_;
    if (profiled && chosen) {
        record.index = index;
        record.symbol = kernel.function().name;
        record.kernel = base::demangle(record.symbol);
        const exec::Dim3 &grid = request.grid, &block = request.block;
        std::copy_n(std::array{grid.x, grid.y, grid.z}.begin(), 3, record.grid);
        std::copy_n(std::array{block.x, block.y, block.z}.begin(), 3, record.block);
        record.stream = request.stream;
        record.start_ns = out.time.start;
        accounting.fold(record, examples_[&kernel]++ < kLaunchesWithExamples);

        record.metrics.merge(profile::Metrics{
            {"launch__grid_size", double(grid.count())},
            {"launch__block_size", double(threads)},
            {"launch__registers_per_thread", double(known.registers)},
            {"launch__occupancy_limit_blocks", double(fit.limit_blocks)},
            {"launch__occupancy_limit_registers", double(fit.limit_registers)},
            {"launch__occupancy_limit_shared_mem", double(fit.limit_shared)},
            {"launch__occupancy_limit_warps", double(fit.limit_warps)},
            {"launch__waves_per_multiprocessor", double(grid.count()) / double(slots)},
            {"launch__shared_mem_config_size", double(fit.shared_config_bytes)},
        });
        if (!settings_.counts_only) {
            timing::KernelWork done = work;
            done.migration_ns = duration - execution;
            timing::add_kernel_time(gpu_, done, record);
        }
        if (known.registers_estimated)
            record.notes.push_back("registers a thread are an estimate from the PTX: neither machine code for this GPU nor ptxas was there");
        else if (known.registers_from != fmt::format("ptxas for sm_{}", gpu_.compute_capability))
            record.notes.push_back("registers a thread come from " + known.registers_from);
        if (known.spill_bytes && *known.spill_bytes)
            record.notes.push_back(fmt::format("the machine code keeps {} bytes a thread of spilled registers in local memory, whose traffic is not counted", *known.spill_bytes));
        if (request.parent)
            record.notes.push_back(fmt::format("launched on the device, by {}; such launches run one after the other behind the kernel that makes them", base::demangle(request.parent->function().name)));
        for (const std::string& note : {unwatched, no_copy})
            if (!note.empty()) record.notes.push_back(note);
        profile::roll_up(record);
        if (copy && !result.fault) try_changes(*copy, request, known, accounting, simulated, took, record);
        journal_.append(record);
        for (profile::Transfer& each : caused) {
            each.launch = index;
            record_transfer(std::move(each), request.stream, {out.time.start, out.time.start + each.duration_ns});
        }
    }
    for (const profile::Fault& finding : findings) journal_.append(finding);
    for (const exec::Fault& warning : result.warnings) record_fault(request.module->ptx(), warning, index, true);
    if (result.fault) record_fault(request.module->ptx(), *result.fault, index, false);
    if (std::optional<exec::Fault> fault = run_children(request, children); fault && !out.fault) out.fault = std::move(fault);
    check_journal();
    return out;
}

std::optional<exec::Fault> Context::run_children(const LaunchRequest& parent, exec::DeviceLaunches& launches) {
    std::optional<exec::Fault> fault;
    std::stable_partition(launches.launched.begin(), launches.launched.end(), [](const exec::DeviceLaunch& each) { return !each.tail; });
    for (const exec::DeviceLaunch& each : launches.launched) {
        exec::Program& program = parent.module->program();
        const exec::Kernel* kernel = program.kernel(program.module().functions[each.function].name);
        std::vector<std::byte> parameters(kernel->parameter_bytes());
        if (const std::byte* from = memory_->host(each.parameters, parameters.size())) std::copy_n(from, parameters.size(), parameters.begin());
        memory_->release(each.parameters);
        if (fault) continue;
        LaunchRequest request = parent;
        request.kernel = kernel;
        request.parent = parent.kernel;
        request.grid = each.grid;
        request.block = each.block;
        request.cluster = {};
        request.dynamic_shared_bytes = each.dynamic_shared_bytes;
        request.carveout_percent = -1;
        request.parameters = parameters;
        request.cooperative = false;
        const KernelResources known = resources(*request.module, *kernel);
        const uint64_t threads = request.block.count(), shared = known.static_shared_bytes + each.dynamic_shared_bytes;
        if (threads <= known.max_threads && shared <= std::max(gpu_.max_shared_per_block, gpu_.max_shared_per_block_optin) &&
            occupancy_of(*request.module, *kernel, uint32_t(threads), each.dynamic_shared_bytes, -1).blocks_per_sm != 0) {
            fault = launch(request).fault;
        } else {
            fault.emplace();
            fault->kind = exec::FaultKind::kInvalidLaunch;
            fault->message = fmt::format("{} was launched on the device with more threads, registers or shared memory than a block can have", kernel->function().name);
            record_fault(request.module->ptx(), *fault, launches_, false);
        }
    }
    for (const auto& [parameters, never] : launches.prepared) memory_->release(parameters);
    return fault;
}

void Context::record_fault(const ptx::Module& module, const exec::Fault& fault, uint64_t launch, bool warning) {
    profile::Fault record;
    record.kind = exec::to_string(fault.kind);
    record.message = message_of(fault);
    record.warning = warning;
    record.launch = launch;
    record.where = frames(module, fault.location);
    record.numbers = {{"block_x", double(fault.block.x)}, {"block_y", double(fault.block.y)}, {"block_z", double(fault.block.z)},
                      {"thread_x", double(fault.thread.x)}, {"thread_y", double(fault.thread.y)}, {"thread_z", double(fault.thread.z)}};
    if (fault.bytes) {
        record.numbers["address"] = double(fault.address);
        record.numbers["bytes"] = double(fault.bytes);
        record.numbers["store"] = double(fault.store);
    }
    if (fault.nearest) record.numbers["distance"] = double(fault.nearest->distance);
    journal_.append(record);
}

void Context::touched(uint64_t address, uint64_t bytes, bool write, bool dense, Stream stream) {
    for (const profile::Fault& finding : watch_.touched(address, bytes, write, dense, stream, *memory_)) journal_.append(finding);
}

void Context::report_leaks() {
    for (const exec::Allocation* each : memory_->allocations()) {
        if (!each->name.starts_with("cuda")) continue;   // module variables are ours
        journal_.append(profile::Fault{.kind = "leak", .message = fmt::format("{} bytes of {} were never freed", each->bytes, each->name), .warning = true,
                                       .numbers = {{"address", double(each->begin)}, {"bytes", double(each->bytes)}}});
    }
    check_journal();
}

void Context::mapped(const exec::Allocation& allocation) {
    if (allocation.region == exec::Region::kHost || allocation.region == exec::Region::kRegistered)
        model_.map(allocation.begin, allocation.bytes, memory::Backing::kHost);
}

void Context::unmapped(const exec::Allocation& allocation) {
    watch_.released(allocation);
    if (allocation.region == exec::Region::kHost || allocation.region == exec::Region::kRegistered) model_.unmap(allocation.begin, allocation.bytes);
}

void Context::check_journal() {
    if (std::string trouble = journal_.take_error(); !trouble.empty() && report) report(trouble);
}

std::string message_of(const exec::Fault& fault) {
    return fmt::format("thread ({}, {}, {}) of block ({}, {}, {}): {}", fault.thread.x, fault.thread.y, fault.thread.z, fault.block.x, fault.block.y, fault.block.z, fault.message);
}

std::string describe(const ptx::Module& module, const exec::Fault& fault) {
    base::Diagnostic diagnostic = base::error(fault.message);
    std::vector<profile::Frame> chain = frames(module, fault.location);
    if (!chain.empty()) diagnostic.place = {chain[0].file, chain[0].line, 0};
    std::string text = base::to_string(diagnostic);
    for (size_t i = 1; i < chain.size(); ++i) text += fmt::format("\n    inlined at {}:{}", base::printable(chain[i].file), chain[i].line);
    return text;
}

}  // namespace lanescope::emulator
