// Whole-file access with errors that name the file and the reason.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace lanescope::base {

/// The bytes of a file. Fails with the system's reason; refuses directories and files over `limit` bytes.
Result<std::string> read_file(const std::filesystem::path& path, size_t limit = size_t(4) << 30);

/// Replaces a file in one step: writes beside it, then renames, so that a full disk or Ctrl-C never leaves half a file.
Status write_file(const std::filesystem::path& path, std::string_view bytes);

/// The lines of a text, without their ends ("\n" or "\r\n").
std::vector<std::string> split_lines(std::string_view text);

}  // namespace lanescope::base
