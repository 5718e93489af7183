// How the lanes of a site's requests lie to each other, counted over all of them: what classes of access patterns are told from.
#pragma once

#include <cstdint>

namespace lanescope::memory {

/// Requests by shape; each is counted once. Distances are by lane number: lane 3 of a contiguous request lies 3 words after lane 0 even
/// where lanes 1 and 2 take no part.
struct Shapes {
    uint64_t single = 0;          ///< one lane
    uint64_t uniform = 0;         ///< all lanes one address
    uint64_t contiguous = 0;      ///< neighbouring words in rising order
    uint64_t reversed = 0;        ///< neighbouring words in falling order
    uint64_t strided = 0;         ///< another constant distance
    uint64_t stride_bytes = 0;    ///< sum over the strided requests of the distance's absolute value
    uint64_t walking = 0;         ///< of the strided ones: begin elsewhere within the distance than the first did (records: never)
    uint64_t rows = 0;            ///< 2, 4, 8 or 16 lanes each of neighbouring words, the groups apart (full warps only)
    uint64_t groups = 0;          ///< 2, 4, 8 or 16 lanes each at one address (full warps only)
    uint64_t irregular = 0;       ///< none of these
    uint64_t partial = 0;         ///< of all of these: not every lane took part

    void add(const uint64_t* addresses, uint32_t active, uint32_t bytes);

private:
    uint64_t place_ = ~uint64_t(0);   ///< of the first strided request within its distance
};

}  // namespace lanescope::memory
