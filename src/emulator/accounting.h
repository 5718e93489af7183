// From executed accesses to counts by source line: the listener of a launch.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/candidate.h"
#include "emulator/managed.h"
#include "emulator/relayout.h"
#include "exec/access.h"
#include "exec/program.h"
#include "memory/model.h"
#include "memory/shapes.h"
#include "profile/profile.h"

namespace lanescope::emulator {

/// Feeds a memory::Model with a kernel's accesses and folds its counts into a profile::Launch.
///
/// A *slot* is an access site in one space: a site with generic addresses has one for each space that its address can turn out to be in.
class Accounting final : public exec::Listener {
public:
    /// `managed`: also told of global accesses; may be null. `relayout`: stands in front of the model when a change is tried.
    Accounting(const exec::Kernel& kernel, memory::Model& model, ManagedMemory* managed = nullptr, Relayout* relayout = nullptr);

    uint32_t slots() const { return uint32_t(sites_.size()); }
    uint32_t on_access(const exec::AccessEvent& event) override;
    void on_advice(exec::Advice advice, uint64_t address, uint32_t sm, uint64_t time) override;
    void on_block_end(uint64_t, uint32_t sm, uint32_t block_slot, uint64_t time) override {
        if (relayout_ != nullptr) relayout_->block_ends(sm, block_slot, time);
    }
    /// The grid has run; before the model's launch ends.
    void finish() {
        if (relayout_ != nullptr) relayout_->finish();
    }

    /// Adds the launch's lines and accesses (counts of the model's slots since begin_launch), innermost location first.
    void fold(profile::Launch& launch, bool examples) const;
    /// First addresses of a site's first warps.
    std::span<const analysis::Surroundings::Sample> samples(uint32_t site) const;

private:
    struct Slot {
        uint32_t site = 0;
        exec::Space space = exec::Space::kGlobal;
        memory::Access access;                ///< what does not change from event to event
        memory::Shapes shapes;                ///< of global accesses
        bool seen = false;
        profile::ExampleWarp example;
        std::vector<analysis::Surroundings::Sample> samples;   ///< of global accesses, at most kSamples
    };
    static constexpr size_t kSamples = 64;
    void sample(Slot& slot, const exec::AccessEvent& event);

    const exec::Kernel& kernel_;
    memory::Model& model_;
    ManagedMemory* managed_;
    Relayout* relayout_;
    std::vector<uint32_t> first_slot_;        ///< of each site
    std::vector<uint8_t> generic_;            ///< of each site: its slots are indexed by space
    std::vector<Slot> sites_;
};

/// The chain of a location: where it stands, then where that was inlined, outwards. Empty for ptx::kNone.
std::vector<profile::Frame> frames(const ptx::Module& module, uint32_t location);

}  // namespace lanescope::emulator
