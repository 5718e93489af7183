// An ELF file for tests, made of the sections that a test wants.
#pragma once

#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

namespace lanescope::base {

struct TestSection {
    std::string name;
    uint32_t type = SHT_PROGBITS;
    std::string bytes;
    uint32_t link = 0;            ///< index of the section that it refers to; the first given is 1
};

/// The sections behind one another, and one with their names as the last.
inline std::string elf_test_file(std::vector<TestSection> sections) {
    sections.push_back({".shstrtab", SHT_STRTAB, {}});
    std::string names(1, '\0');
    std::vector<Elf64_Shdr> headers(1);
    for (const TestSection& section : sections) {
        headers.emplace_back();
        headers.back().sh_name = uint32_t(names.size());
        headers.back().sh_type = section.type;
        headers.back().sh_link = section.link;
        names += section.name + '\0';
    }
    sections.back().bytes = names;
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_shoff = sizeof header;
    header.e_shnum = uint16_t(headers.size());
    header.e_shstrndx = uint16_t(headers.size() - 1);
    uint64_t at = sizeof header + headers.size() * sizeof(Elf64_Shdr);
    std::string contents;
    for (size_t i = 0; i < sections.size(); ++i) {
        headers[i + 1].sh_offset = at + contents.size();
        headers[i + 1].sh_size = sections[i].bytes.size();
        contents += sections[i].bytes;
    }
    return std::string(reinterpret_cast<const char*>(&header), sizeof header) +
           std::string(reinterpret_cast<const char*>(headers.data()), headers.size() * sizeof(Elf64_Shdr)) + contents;
}

/// The bytes of an object of a test's.
template <class Object>
std::string bytes_of(const Object& object) {
    return std::string(reinterpret_cast<const char*>(&object), sizeof object);
}

}  // namespace lanescope::base
