// The parts of 64-bit little-endian ELF files that lanescope looks at: sections, their names, and symbol names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace lanescope::base {

struct ElfSection {
    std::string name;
    uint32_t type = 0, link = 0, info = 0;
    std::string_view bytes;       ///< into the text given; empty for sections without file content
};

/// Sections in file order, section 0 included. Any offset outside `file` is an error.
Result<std::vector<ElfSection>> elf_sections(std::string_view file);

const ElfSection* find_section(const std::vector<ElfSection>& sections, std::string_view name);

/// Names of the symbol table's entries, by index; empty for a bad name or where there is no table.
std::vector<std::string> elf_symbol_names(const std::vector<ElfSection>& sections);

/// DT_NEEDED entries: the shared libraries that the file asks for.
std::vector<std::string> elf_needed_libraries(const std::vector<ElfSection>& sections);

}  // namespace lanescope::base
