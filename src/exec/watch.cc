// What the monitor of a grid is told.
#include "exec/run.h"

namespace lanescope::exec {

Actor Run::actor(const Warp& w) {
    const Block& b = *w.block;
    return {b.index, b.cluster != nullptr ? b.cluster->index : UINT64_MAX, b.rank, b.sm, b.slot, w.index, w.live};
}

void Run::watch(const Step& step, const MemoryPlan& plan, Touch touch, Space space, uint32_t active, const uint64_t* at) {
    const Actor who = actor();
    Use use{.actor = &who, .place = plan.index, .space = space, .touch = touch, .ordering = plan.ordering, .bytes = plan.width, .active = active, .addresses = at};
    use.shared = block->shared;
    use.element_bytes = plan.element_bytes;
    const void* values[8];
    if (touch == Touch::kWrite) {
        for (unsigned v = 0; v < plan.vector; ++v) values[v] = step.rows[v].in(rows);
        use.rows = values;
        use.row_stride = plan.row_stride;
    }
    monitor->on_use(use);
}

void Run::watch(const MemoryPlan& plan, Touch touch, Space space, uint32_t active, const uint64_t* at, uint32_t bytes) {
    const Actor who = actor();
    Use use{.actor = &who, .place = plan.index, .space = space, .touch = touch, .ordering = plan.ordering, .bytes = bytes, .active = active, .addresses = at};
    use.shared = block->shared;
    monitor->on_use(use);
}

Meeting Run::mbarrier(uint64_t address) const {
    const Block* owner = block;
    if (const uint64_t rank = address >> kClusterShift; rank != 0 && block->cluster != nullptr && rank <= block->cluster->blocks.size())
        owner = block->cluster->blocks[rank - 1];
    return mbarrier_of(owner->index, address & ((uint64_t(1) << kClusterShift) - 1));
}

}  // namespace lanescope::exec
