#include "base/elf.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>
#include <optional>

namespace lanescope::base {
namespace {

template <class T>
std::optional<T> read(std::string_view bytes, uint64_t offset) {
    T value;
    if (offset > bytes.size() || bytes.size() - offset < sizeof value) return std::nullopt;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

std::string name_at(std::string_view table, uint64_t offset) {
    if (offset >= table.size()) return {};
    std::string_view rest = table.substr(offset);
    size_t end = rest.find('\0');
    return end == rest.npos ? std::string() : std::string(rest.substr(0, end));
}

}  // namespace

Result<std::vector<ElfSection>> elf_sections(std::string_view file) {
    std::optional<Elf64_Ehdr> header = read<Elf64_Ehdr>(file, 0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return error("not an ELF file");
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB) return error("not a 64-bit little-endian ELF file");

    std::vector<ElfSection> sections;
    std::vector<uint32_t> names;
    for (uint64_t i = 0; i < header->e_shnum; ++i) {
        std::optional<Elf64_Shdr> section;
        if (header->e_shoff <= file.size()) section = read<Elf64_Shdr>(file, header->e_shoff + i * sizeof(Elf64_Shdr));
        if (!section) return error(fmt::format("ELF section header {} lies outside the file", i));
        ElfSection out{.type = section->sh_type, .link = section->sh_link, .info = section->sh_info};
        if (section->sh_type != SHT_NOBITS && section->sh_type != SHT_NULL) {
            if (section->sh_offset > file.size() || section->sh_size > file.size() - section->sh_offset)
                return error(fmt::format("ELF section {} lies outside the file", i));
            out.bytes = file.substr(section->sh_offset, section->sh_size);
        }
        names.push_back(section->sh_name);
        sections.push_back(std::move(out));
    }
    if (header->e_shstrndx < sections.size())
        for (size_t i = 0; i < sections.size(); ++i) sections[i].name = name_at(sections[header->e_shstrndx].bytes, names[i]);
    return sections;
}

const ElfSection* find_section(const std::vector<ElfSection>& sections, std::string_view name) {
    for (const ElfSection& section : sections)
        if (section.name == name) return &section;
    return nullptr;
}

std::vector<std::string> elf_symbol_names(const std::vector<ElfSection>& sections) {
    std::vector<std::string> names;
    for (const ElfSection& section : sections) {
        if (section.type != SHT_SYMTAB || section.link >= sections.size()) continue;
        for (uint64_t at = 0; std::optional<Elf64_Sym> symbol = read<Elf64_Sym>(section.bytes, at); at += sizeof(Elf64_Sym))
            names.push_back(name_at(sections[section.link].bytes, symbol->st_name));
        break;
    }
    return names;
}

std::vector<std::string> elf_needed_libraries(const std::vector<ElfSection>& sections) {
    std::vector<std::string> needed;
    for (const ElfSection& section : sections) {
        if (section.type != SHT_DYNAMIC || section.link >= sections.size()) continue;
        for (uint64_t at = 0; std::optional<Elf64_Dyn> entry = read<Elf64_Dyn>(section.bytes, at); at += sizeof(Elf64_Dyn))
            if (entry->d_tag == DT_NEEDED) needed.push_back(name_at(sections[section.link].bytes, entry->d_un.d_val));
    }
    return needed;
}

}  // namespace lanescope::base
