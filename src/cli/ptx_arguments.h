// Kernel arguments and shapes as they are written on the command line, for running a kernel without a host program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/diagnostic.h"

namespace lanescope::cli {

/// "buffer:BYTES[:FILL]" or "TYPE:VALUE".
struct PtxArgument {
    bool is_buffer = false;
    uint64_t buffer_bytes = 0;
    /// What fills a buffer: zero (default), i32, f32, f64 (0, 1, 2, …), random (reproducible bytes).
    std::string fill = "zero";
    std::vector<std::byte> value;         ///< of a scalar
};

/// BYTES may end in K, M or G (powers of 1024). Types: i8 … i64, u8 … u64, f32, f64, b8 … b64 (hexadecimal allowed).
base::Result<PtxArgument> parse_argument(const std::string& text);
/// "128", "32,8", "32,8,2" → three numbers of at least 1.
base::Result<std::vector<uint32_t>> parse_dimensions(const std::string& text);
/// Writes what `fill` says into `bytes`.
void fill(const std::string& how, std::byte* bytes, uint64_t count);

}  // namespace lanescope::cli
