#include "gpu/clusters.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace lanescope::gpu {

Clusters clusters(const Description& gpu) {
    const uint32_t sms = std::max(1u, gpu.sms), per_tpc = std::max(1u, gpu.sms_per_tpc), gpcs = std::clamp(gpu.gpcs, 1u, sms);
    const uint32_t tpcs = (sms + per_tpc - 1) / per_tpc;
    std::vector<uint32_t> size(gpcs);                       // in SMs
    for (uint32_t i = 0; i < gpcs; ++i) size[(gpcs / 2 + i) % gpcs] = (tpcs / gpcs + (i < tpcs % gpcs)) * per_tpc;
    const auto found = gpu.model.find("gpc_first_sms");
    const uint32_t first = found == gpu.model.end() ? 0 : std::min(uint32_t(found->second), size[0]);

    Clusters out;
    std::vector<std::tuple<bool, uint32_t, uint32_t, uint32_t>> key;   // who comes first
    const auto add = [&](uint32_t cluster, uint32_t count, bool before_all, uint32_t turn) {
        // TPCs get one block each before any gets a second; clusters that have got as many, in whole ones, are equal.
        const uint32_t full = std::max(count / per_tpc, tpcs / gpcs);
        for (uint32_t i = 0; i < count && out.of_sm.size() < sms; ++i) {
            out.of_sm.push_back(cluster);
            key.emplace_back(!before_all, i % per_tpc, i % per_tpc * full + i / per_tpc, turn);
        }
    };
    add(0, first != 0 ? first : size[0], first != 0, 0);
    for (uint32_t i = 1; i < gpcs; ++i) add(i, size[i], false, i);
    add(0, first != 0 ? size[0] - first : 0, false, 0);

    std::vector<uint32_t> order(out.of_sm.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key[a] < key[b]; });
    out.rank.resize(order.size());
    for (uint32_t i = 0; i < order.size(); ++i) out.rank[order[i]] = i;
    return out;
}

}  // namespace lanescope::gpu
