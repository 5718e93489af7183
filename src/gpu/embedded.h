// The descriptions of gpus/ as they were when lanescope was built: a program that uses the library needs no files.
#pragma once

#include <span>
#include <string_view>

namespace lanescope::gpu {

struct Embedded {
    std::string_view name, text;
};
std::span<const Embedded> embedded();

}  // namespace lanescope::gpu
