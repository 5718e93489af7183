// The half of CUPTI that needs neither a GPU nor a driver: which counters a chip has, how many passes they take, and what a
// collected counter image says. Loaded with dlopen.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"

namespace lanescope::hardware {

class Cupti {
public:
    /// Finds and loads the library: LANESCOPE_CUPTI, the dynamic linker's path, CUDA_HOME, the usual toolkit folders, the wheels
    /// of the python on PATH. The error says what to install.
    static base::Result<Cupti> load();

    const std::string& path() const;
    uint32_t version() const;                       ///< CUPTI_API_VERSION: 130000 for CUDA 13.0
    std::vector<std::string> chips() const;         ///< "GH100", …

    /// The chip of a device of this machine. Needs the driver, initialised.
    base::Result<std::string> chip_of(uint32_t device) const;

    /// For each name whether the chip can count it.
    std::vector<bool> supported(const std::string& chip, std::span<const std::string> metrics) const;

    struct Plan {
        std::string config;        ///< CUPTI's configuration image
        uint32_t passes = 0;
    };
    /// All of `metrics` must be supported.
    base::Result<Plan> plan(const std::string& chip, std::span<const std::string> metrics) const;

    /// values[range][metric] of a counter image, ranges in the order they were collected.
    base::Result<std::vector<std::vector<double>>> evaluate(const std::string& chip, const std::string& image,
                                                            std::span<const std::string> metrics, size_t ranges) const;

private:
    struct Library;
    std::shared_ptr<Library> library_;
};

}  // namespace lanescope::hardware
