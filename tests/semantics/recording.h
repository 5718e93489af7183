// A file of results that hardware gave: every variant with its outputs.
#pragma once

#include <string>
#include <vector>

#include "variants.h"

namespace lanescope::semantics {

struct RecordedVariant {
    Variant variant;
    uint32_t checksum = 0;                        ///< of the inputs it ran with
    std::vector<std::vector<uint64_t>> outputs;   ///< [output][sample]
};
struct Recording {
    std::string header;                           ///< device, driver and date, a line each
    std::vector<RecordedVariant> variants;
};

/// Reads what semantics_record wrote, compressed with zstd. Throws std::runtime_error.
Recording read_recording(const std::string& path);

}  // namespace lanescope::semantics
