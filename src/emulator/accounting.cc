#include "emulator/accounting.h"

#include <bit>
#include <map>

#include "base/demangle.h"
#include "ptx/lookup.h"

namespace lanescope::emulator {
namespace {

// The two folders do not know each other; their enumerators stand in the same order.
static_assert(int(exec::Space::kSurface) == int(memory::Space::kSurface));
static_assert(int(exec::Operation::kPrefetch) == int(memory::Operation::kPrefetch));
static_assert(int(exec::CacheOperator::kNonCoherent) == int(memory::CacheOperator::kNonCoherent));
static_assert(int(exec::Eviction::kUnchanged) == int(memory::Eviction::kUnchanged));

constexpr uint32_t kSpaces = uint32_t(exec::Space::kSurface) + 1;

const char* name(exec::Space space) {
    static constexpr const char* kNames[] = {"global", "shared", "local", "constant", "param", "texture", "surface"};
    return kNames[size_t(space)];
}

const char* name(exec::Operation operation) {
    static constexpr const char* kNames[] = {"load", "store", "reduction", "atomic", "async_copy", "prefetch"};
    return kNames[size_t(operation)];
}

profile::Metrics to_metrics(const memory::Counters& counters, const memory::Shapes& shapes) {
    profile::Metrics metrics;
    auto put = [&](const char* key, uint64_t value) {
        if (value) metrics.emplace(key, double(value));
    };
    put("instructions", counters.instructions);
    put("threads", counters.threads);
    put("requests", counters.requests);
    put("tags", counters.tags);
    put("sectors", counters.sectors);
    put("repeated_sectors", counters.repeated_sectors);
    put("ideal_sectors", counters.ideal_sectors);
    put("requested_bytes", counters.requested_bytes);
    put("unique_bytes", counters.unique_bytes);
    put("transactions", counters.transactions);
    put("transaction_bytes", counters.transaction_bytes);
    put("wavefronts", counters.wavefronts);
    put("ideal_wavefronts", counters.ideal_wavefronts);
    put("constant_words", counters.constant_words);
    put("l1_hits", counters.l1_hits);
    put("l2_reads", counters.l2_reads);
    put("l2_read_hits", counters.l2_read_hits);
    put("l2_writes", counters.l2_writes);
    put("l2_write_hits", counters.l2_write_hits);
    put("l2_atomics", counters.l2_atomics);
    put("l2_reductions", counters.l2_reductions);
    put("dram_read_bytes", counters.dram_read_bytes);
    put("dram_write_bytes", counters.dram_write_bytes);
    put("link_read_bytes", counters.link_read_bytes);
    put("link_write_bytes", counters.link_write_bytes);
    put("single_lane_requests", shapes.single);
    put("uniform_requests", shapes.uniform);
    put("contiguous_requests", shapes.contiguous);
    put("reversed_requests", shapes.reversed);
    put("strided_requests", shapes.strided);
    put("stride_bytes", shapes.stride_bytes);
    put("walking_requests", shapes.walking);
    put("row_requests", shapes.rows);
    put("group_requests", shapes.groups);
    put("irregular_requests", shapes.irregular);
    put("partial_requests", shapes.partial);
    return metrics;
}

}  // namespace

Accounting::Accounting(const exec::Kernel& kernel, memory::Model& model, ManagedMemory* managed, Relayout* relayout)
    : kernel_(kernel), model_(model), managed_(managed), relayout_(relayout) {
    const ptx::Module& module = kernel.program().module();
    for (uint32_t i = 0; i < kernel.sites().size(); ++i) {
        const exec::AccessSite& site = kernel.sites()[i];
        const ptx::Instruction& instruction = module.functions[site.function].body[site.instruction];
        bool generic = instruction.space == ptx::Space::kGeneric;
        first_slot_.push_back(uint32_t(sites_.size()));
        generic_.push_back(generic);
        for (uint32_t space = 0; space < (generic ? kSpaces : 1); ++space) {
            Slot slot;
            slot.site = i;
            slot.space = exec::Space(space);
            slot.access.site = uint32_t(sites_.size());
            slot.access.operation = memory::Operation(site.operation);
            slot.access.cache = memory::CacheOperator(site.cache);
            slot.access.l1 = memory::Eviction(site.l1);
            slot.access.bytes = site.bytes;
            slot.access.uniform_reduction = site.uniform_reduction;
            slot.access.bulk = site.bulk;
            slot.access.compare_and_swap = site.compare_and_swap;
            slot.access.increment = site.increment;
            slot.access.constant_path = memory::ConstantPath(site.constant_path);
            slot.access.prefetch_bytes = site.prefetch_bytes;
            sites_.push_back(std::move(slot));
        }
    }
}

uint32_t Accounting::on_access(const exec::AccessEvent& event) {
    Slot& slot = sites_[first_slot_[event.site] + (generic_[event.site] ? uint32_t(event.space) : 0)];
    memory::Access& access = slot.access;
    access.space = memory::Space(event.space);
    access.active = event.active;
    access.continued = event.continued;
    access.remote = event.remote;
    access.destinations = event.destinations;
    access.sm = event.sm;
    access.warp_slot = event.warp_slot;
    access.block_slot = event.block_slot;
    access.time = event.time;
    access.policy = event.policy ? event.policy : kernel_.sites()[event.site].policy;
    access.addresses = event.addresses;
    access.texels = event.texels;
    access.texels_per_lane = event.texels_per_lane;
    access.texel_bytes = event.texel_bytes;
    access.texel_xyz = event.texel_xyz;
    if (relayout_ != nullptr) [[unlikely]] return relayout_->access(access, event.site, event.warp);
    // The lowest block and warp that has all lanes active, so that the examples of one launch show the same warp; until one comes, the first.
    const profile::ExampleWarp& kept = slot.example;
    if (!slot.seen || (event.active == ~0u && (kept.active != ~0u || event.block < kept.block || (event.block == kept.block && event.warp < kept.warp)))) {
        slot.seen = true;
        slot.space = event.space;
        slot.example = {event.block, event.warp, event.active, std::vector<uint64_t>(event.addresses, event.addresses + exec::kWarpLanes)};
        for (unsigned lane = 0; lane < exec::kWarpLanes; ++lane)
            if (!(event.active >> lane & 1)) slot.example.addresses[lane] = 0;
    }
    if (event.space == exec::Space::kGlobal) {
        if (!access.bulk) slot.shapes.add(event.addresses, event.active, access.bytes);
        if (managed_) managed_->access(event, access.operation != memory::Operation::kLoad && access.operation != memory::Operation::kAsyncCopy && access.operation != memory::Operation::kPrefetch);
        if (slot.samples.size() < kSamples) sample(slot, event);
    }
    return model_.access(access);
}

void Accounting::on_advice(exec::Advice advice, uint64_t address, uint32_t sm, uint64_t time) {
    if (relayout_ != nullptr) return;                       // the line may lie elsewhere
    if (advice == exec::Advice::kDiscard) model_.discard(address, sm, time);
    else model_.evict_normally(address);
}

void Accounting::sample(Slot& slot, const exec::AccessEvent& event) {
    for (const analysis::Surroundings::Sample& each : slot.samples)
        if (each.block == event.block && each.warp == event.warp) return;
    slot.samples.push_back({event.block, event.warp, event.addresses[std::countr_zero(event.active)]});
}

std::span<const analysis::Surroundings::Sample> Accounting::samples(uint32_t site) const {
    return sites_[first_slot_[site] + (generic_[site] ? uint32_t(exec::Space::kGlobal) : 0)].samples;
}

void Accounting::fold(profile::Launch& launch, bool examples) const {
    const ptx::Module& module = kernel_.program().module();
    std::map<std::vector<profile::Frame>, size_t> lines;   // chain → index into launch.lines
    std::span<const memory::Counters> counters = model_.sites();
    for (const Slot& slot : sites_) {
        if (!slot.seen) continue;
        const exec::AccessSite& site = kernel_.sites()[slot.site];
        std::vector<profile::Frame> chain = frames(module, site.location);
        auto [at, added] = lines.try_emplace(chain, launch.lines.size());
        if (added) {
            profile::Line line;
            if (!chain.empty()) {
                line.file = chain[0].file;
                line.line = chain[0].line;
                line.function = chain[0].function;
                line.inlined_from.assign(chain.begin() + 1, chain.end());
            }
            launch.lines.push_back(std::move(line));
        }
        profile::Access access;
        access.space = name(slot.space);
        access.operation = name(site.operation);
        access.bytes = site.bytes;
        access.instruction = slot.site;
        access.metrics = to_metrics(counters[slot.access.site], slot.shapes);
        if (examples) access.example = slot.example;
        launch.lines[at->second].accesses.push_back(std::move(access));
    }
    if (profile::Metrics rest = to_metrics(model_.unattributed(), {}); !rest.empty()) {
        // What earlier kernels, copies or the flush left in L2 and this kernel drove out: a row of its own, without a line.
        const auto [at, added] = lines.try_emplace({}, launch.lines.size());
        if (added) launch.lines.emplace_back();
        profile::Access access;
        access.space = name(exec::Space::kGlobal);
        access.operation = name(exec::Operation::kStore);
        access.metrics = std::move(rest);
        launch.lines[at->second].accesses.push_back(std::move(access));
    }
}

std::vector<profile::Frame> frames(const ptx::Module& module, uint32_t location) {
    std::vector<profile::Frame> chain;
    for (const ptx::SourceFrame& frame : ptx::source_frames(module, location))
        chain.push_back({frame.file, frame.line, frame.function.empty() ? "" : base::demangle(frame.function)});
    return chain;
}

}  // namespace lanescope::emulator
