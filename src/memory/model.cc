#include "memory/model.h"

#include <algorithm>
#include <bit>

#include "memory/coalescer.h"
#include "memory/shared_banks.h"
#include "memory/texture_quads.h"

namespace lanescope::memory {
namespace {

Sharing sharing_of(const Access& access) {
    if (access.operation == Operation::kLoad) return Sharing::kLoad;
    const bool atomic = access.operation == Operation::kAtomic || access.operation == Operation::kReduction;
    return atomic && !access.increment ? Sharing::kAtomic : Sharing::kStore;
}


}  // namespace

struct Model::Impl {
    const gpu::Description gpu;
    const Settings settings;
    LaunchShape shape;
    std::vector<Counters> sites;
    Counters unattributed;
    bool l1_loads;                        ///< default loads may hit L1
    Footprint footprint;
    QuadRequests quads;

    Impl(const gpu::Description& description, const Settings& wanted) : gpu(description), settings(wanted) {
        l1_loads = settings.l1 == Settings::L1::kDefault ? gpu.l1_caches_global_by_default : settings.l1 == Settings::L1::kOn;
    }

    void count(Counters& c) const {
        c.requests += 1;
        c.tags += footprint.lines;
        c.sectors += footprint.sectors;
        c.ideal_sectors += ideal_sectors(footprint);
        c.requested_bytes += footprint.requested_bytes;
        c.unique_bytes += footprint.unique_bytes;
    }

    /// Kepler moves one transaction for each 128-byte line: all of it through L1, the 32-byte segments needed without.
    void count_transactions(Counters& c, bool through_l1) const {
        c.transactions += footprint.lines;
        c.transaction_bytes += through_l1 ? uint64_t(kLineBytes) * footprint.lines : uint64_t(kSectorBytes) * footprint.sectors;
    }

    bool loads_through_l1(const Access& access) const {
        switch (access.cache) {
            case CacheOperator::kDefault: return l1_loads;
            case CacheOperator::kCg:
            case CacheOperator::kCv:
            case CacheOperator::kVolatile: return false;
            default: return true;
        }
    }

    uint32_t global(const Access& access, Counters& c) {
        coalesce(access.addresses, access.active, access.bytes, footprint);
        count(c);
        if (gpu.coalescing == gpu::Coalescing::kKepler) count_transactions(c, access.operation == Operation::kLoad && loads_through_l1(access));
        return 0;
    }

    uint32_t shared(const Access& access, Counters& c) {
        const Wavefronts passes = shared_wavefronts(access.addresses, access.active, access.bytes, sharing_of(access), gpu.shared_banks, gpu.shared_bank_bytes);
        c.requests += 1;
        c.wavefronts += passes.actual;
        c.ideal_wavefronts += passes.ideal;
        c.requested_bytes += uint64_t(std::popcount(access.active)) * access.bytes;
        return passes.actual;
    }

    /// Thread-local memory is interleaved by lane in 4-byte words: word w of lane l lies at (32 w + l) × 4 of the warp's share.
    uint32_t local(const Access& access, Counters& c) {
        const uint64_t words_per_thread = (shape.local_bytes_per_thread + 3) / 4;
        const uint64_t warp = uint64_t(access.sm) * std::max(1u, gpu.max_warps_per_sm) + access.warp_slot;
        const uint64_t base = kLocalWindow + warp * words_per_thread * kLineBytes;
        const uint32_t words = std::max(1u, access.bytes / 4u);
        uint64_t lanes[kLanes];
        Footprint word;
        footprint.lines = footprint.sectors = footprint.unique_bytes = 0;
        footprint.requested_bytes = uint32_t(std::popcount(access.active)) * access.bytes;
        for (uint32_t k = 0; k < words; ++k) {
            for (uint32_t lane = 0; lane < kLanes; ++lane)
                lanes[lane] = base + ((access.addresses[lane] / 4 + k) * kLanes + lane) * 4 + access.addresses[lane] % 4;
            coalesce(lanes, access.active, std::min<uint32_t>(access.bytes, 4), word);
            footprint.lines += word.lines;
            footprint.sectors += word.sectors;
            footprint.unique_bytes += word.unique_bytes;
        }
        count(c);
        return 0;
    }

    uint32_t constant(const Access& access, Counters& c) {
        c.requests += 1;
        c.constant_words += distinct_words(access.addresses, access.active, access.bytes);
        c.requested_bytes += uint64_t(std::popcount(access.active)) * access.bytes;
        return 0;
    }

    uint32_t texture(const Access& access, Counters& c) {
        const bool has_texels = access.texels != nullptr && access.texels_per_lane != 0;
        split_quads(has_texels ? access.texels : access.addresses, has_texels ? access.texels_per_lane : 1, access.active, access.bytes, quads);
        c.requests += quads.requests;
        c.tags += quads.count;
        c.sectors += quads.sectors;
        c.requested_bytes += uint64_t(std::popcount(access.active)) * access.bytes * (has_texels ? access.texels_per_lane : 1);
        for (uint32_t i = 0; i < quads.count; ++i) c.unique_bytes += quads.parts[i].bytes.count();
        return 0;
    }

    static constexpr uint64_t kLocalWindow = 1ull << 56;  ///< far above any device address
};

Model::Model(const gpu::Description& gpu, const Settings& settings) : impl_(std::make_unique<Impl>(gpu, settings)) {}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

void Model::begin_launch(const LaunchShape& shape) {
    impl_->shape = shape;
    impl_->sites.assign(shape.sites, {});
    impl_->unattributed = {};
}

uint32_t Model::access(const Access& access) {
    Counters& c = impl_->sites[access.site];
    c.instructions += 1;
    c.threads += uint32_t(std::popcount(access.active));
    switch (access.space) {
        case Space::kGlobal: return impl_->global(access, c);
        case Space::kShared: return impl_->shared(access, c);
        case Space::kLocal: return impl_->local(access, c);
        case Space::kConst:
        case Space::kParam: return impl_->constant(access, c);
        case Space::kTexture:
        case Space::kSurface: return impl_->texture(access, c);
    }
    return 0;
}

void Model::end_launch() {}
std::span<const Counters> Model::sites() const { return impl_->sites; }
const Counters& Model::unattributed() const { return impl_->unattributed; }
void Model::host_wrote(uint64_t, uint64_t) {}
void Model::host_read(uint64_t, uint64_t) {}
void Model::map(uint64_t, uint64_t, Backing) {}
void Model::unmap(uint64_t, uint64_t) {}

}  // namespace lanescope::memory
