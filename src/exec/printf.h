// The device's printf: C's, without what CUDA's lacks (%n, wide characters).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace lanescope::exec {

struct PrintArguments {
    std::function<uint64_t(uint32_t offset, uint32_t bytes)> value;  ///< of the argument buffer, each argument aligned to its size
    std::function<std::string(uint64_t address)> text;               ///< the string behind a %s
};

/// `count`: the number of arguments, which is what device printf returns.
std::string format_print(std::string_view format, const PrintArguments& arguments, int& count);

}  // namespace lanescope::exec
