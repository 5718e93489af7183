#include "hardware/cubin.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "base/demangle.h"

namespace lanescope::hardware {

namespace {

/// Reads little-endian values; past the end it yields zeros and `ok` turns false.
class Reader {
public:
    explicit Reader(std::string_view bytes) : bytes_(bytes) {}
    bool ok() const { return ok_; }
    bool at_end() const { return !ok_ || position_ >= bytes_.size(); }
    size_t position() const { return position_; }
    void seek(size_t position) {
        ok_ = ok_ && position <= bytes_.size();
        if (ok_) position_ = position;
    }
    template <class Integer>
    Integer read() {
        Integer value{};
        if (bytes_.size() - position_ < sizeof value) ok_ = false;
        if (!ok_) return Integer{};
        std::memcpy(&value, bytes_.data() + position_, sizeof value);
        position_ += sizeof value;
        return value;
    }
    uint64_t uleb() {
        uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            auto byte = read<uint8_t>();
            if (shift < 64) value |= uint64_t(byte & 0x7f) << shift;
            if (!(byte & 0x80)) return value;
        }
    }
    int64_t sleb() {
        uint64_t value = 0;
        for (unsigned shift = 0;;) {
            auto byte = read<uint8_t>();
            if (shift < 64) value |= uint64_t(byte & 0x7f) << shift;
            shift += 7;
            if (byte & 0x80) continue;
            if (byte & 0x40 && shift < 64) value |= ~uint64_t(0) << shift;
            return int64_t(value);
        }
    }
    std::string string() {
        size_t end = ok_ ? bytes_.find('\0', position_) : std::string_view::npos;
        if (end == std::string_view::npos) {
            ok_ = false;
            return {};
        }
        std::string text(bytes_.substr(position_, end - position_));
        position_ = end + 1;
        return text;
    }

private:
    std::string_view bytes_;
    size_t position_ = 0;
    bool ok_ = true;
};

std::string string_at(std::string_view table, uint64_t offset) {
    Reader reader(table);
    reader.seek(offset);
    return reader.string();
}

struct Section {
    std::string name;
    Elf64_Shdr header;
    std::string_view bytes;
};

// Extended opcodes. The last is NVIDIA's own: the row of the inlined call (0: none) and the offset of the called function's name
// in .debug_str; it holds for the rows that follow.
constexpr uint8_t kEndSequence = 1, kSetAddress = 2, kInlinedCall = 0x90;

}  // namespace

/// The DWARF line programs (versions 2 to 4) of one cubin.
class LineTable {
public:
    LineTable(Cubin& cubin, std::string_view bytes, std::string_view names, const std::map<uint64_t, std::string>& relocations)
        : cubin_(cubin), reader_(bytes), names_(names), relocations_(relocations) {}

    bool read() {
        while (!reader_.at_end())
            if (!unit()) return false;
        return reader_.ok();
    }

private:
    bool unit() {
        auto length = reader_.read<uint32_t>();
        size_t end = reader_.position() + length;
        auto version = reader_.read<uint16_t>();
        if (!reader_.ok() || version < 2 || version > 4) return false;
        auto header = reader_.read<uint32_t>();
        size_t program = reader_.position() + header;
        step_ = reader_.read<uint8_t>();
        if (version == 4) reader_.read<uint8_t>();
        reader_.read<uint8_t>();
        line_base_ = reader_.read<int8_t>();
        line_range_ = reader_.read<uint8_t>();
        opcode_base_ = reader_.read<uint8_t>();
        lengths_.assign(1, 0);
        for (unsigned i = 1; i < opcode_base_; ++i) lengths_.push_back(reader_.read<uint8_t>());
        std::vector<std::string> folders{""};
        for (std::string folder; !(folder = reader_.string()).empty();) folders.push_back(folder);
        file_base_ = uint32_t(cubin_.files_.size());
        for (std::string file; !(file = reader_.string()).empty();) {
            uint64_t folder = reader_.uleb();
            reader_.uleb();
            reader_.uleb();
            bool relative = folder && folder < folders.size() && !file.starts_with('/');
            cubin_.files_.push_back(relative ? folders[folder] + "/" + file : file);
        }
        if (!reader_.ok() || !line_range_) return false;
        for (reader_.seek(program); reader_.ok() && reader_.position() < end;) sequence(end);
        return reader_.ok();
    }

    void sequence(size_t end) {
        Cubin::Row row;
        row.file = file_base_;
        row.line = 1;
        std::string symbol;
        std::vector<Cubin::Row> rows;
        auto emit = [&] { rows.push_back(row); };
        while (reader_.ok() && reader_.position() < end) {
            auto opcode = reader_.read<uint8_t>();
            if (opcode >= opcode_base_) {
                unsigned adjusted = unsigned(opcode - opcode_base_);
                row.address += uint64_t(step_) * (adjusted / line_range_);
                row.line = uint32_t(int64_t(row.line) + line_base_ + int64_t(adjusted % line_range_));
                emit();
                continue;
            }
            switch (opcode) {
                case 0: {
                    uint64_t size = reader_.uleb();
                    size_t start = reader_.position();
                    if (size == 0) break;  // ptxas pads the header with zeros that read as such an opcode
                    auto extended = reader_.read<uint8_t>();
                    if (extended == kEndSequence) {
                        reader_.seek(start + size);
                        return finish(symbol, std::move(rows));
                    }
                    if (extended == kSetAddress) {
                        auto target = relocations_.find(reader_.position());
                        if (target != relocations_.end()) symbol = target->second;
                        row.address = 0;
                    }
                    if (extended == kInlinedCall) {
                        row.context = uint32_t(reader_.uleb());
                        uint64_t name = reader_.uleb();
                        row.inlined = row.context ? string_at(names_, name) : "";
                    }
                    reader_.seek(start + size);
                    break;
                }
                case 1: emit(); break;
                case 2: row.address += step_ * reader_.uleb(); break;
                case 3: row.line = uint32_t(int64_t(row.line) + reader_.sleb()); break;
                case 4: row.file = file_base_ + uint32_t(reader_.uleb()) - 1; break;
                case 8: row.address += uint64_t(step_) * ((255u - opcode_base_) / line_range_); break;
                case 9: row.address += reader_.read<uint16_t>(); break;
                default:
                    for (unsigned i = 0; i < lengths_[opcode]; ++i) reader_.uleb();
            }
        }
    }

    void finish(const std::string& symbol, std::vector<Cubin::Row> rows) {
        for (auto& function : cubin_.functions_)
            if (function.symbol == symbol && function.rows.empty()) function.rows = std::move(rows);
    }

    Cubin& cubin_;
    Reader reader_;
    std::string_view names_;
    const std::map<uint64_t, std::string>& relocations_;
    uint8_t step_ = 1, line_range_ = 1, opcode_base_ = 1;
    int8_t line_base_ = 0;
    uint32_t file_base_ = 0;
    std::vector<uint8_t> lengths_;
};

base::Result<Cubin> Cubin::parse(std::string_view bytes, const std::string& name) {
    auto broken = [&](const char* what) { return base::error(std::string("not a usable cubin: ") + what, {name}); };
    Reader reader(bytes);
    auto header = reader.read<Elf64_Ehdr>();
    if (!reader.ok() || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
        return broken("no 64-bit ELF header");
    std::vector<Section> sections;
    for (unsigned i = 0; i < header.e_shnum; ++i) {
        reader.seek(header.e_shoff + uint64_t(i) * sizeof(Elf64_Shdr));
        auto section = reader.read<Elf64_Shdr>();
        if (!reader.ok()) return broken("the section table is cut off");
        bool stored = section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL;
        if (stored && (section.sh_offset > bytes.size() || section.sh_size > bytes.size() - section.sh_offset))
            return broken("a section is cut off");
        sections.push_back({"", section, stored ? bytes.substr(section.sh_offset, section.sh_size) : std::string_view()});
    }
    if (header.e_shstrndx >= sections.size()) return broken("no section names");
    for (auto& section : sections) section.name = string_at(sections[header.e_shstrndx].bytes, section.header.sh_name);
    auto find = [&](std::string_view wanted) {
        auto found = std::find_if(sections.begin(), sections.end(), [&](auto& section) { return section.name == wanted; });
        return found == sections.end() ? nullptr : &*found;
    };

    constexpr std::string_view kText = ".text.";
    Cubin cubin;
    for (auto& section : sections)
        if (section.name.starts_with(kText))
            cubin.functions_.push_back({section.name.substr(kText.size()), std::string(section.bytes), {}});

    const Section* table = find(".debug_line");
    if (!table || table->bytes.empty()) return cubin;
    // Each sequence belongs to the function whose symbol its set-address operand is relocated against.
    std::map<uint64_t, std::string> relocations;
    auto relocate = [&](const Section& section, uint64_t offset, uint64_t info) {
        const Section* symbols = section.header.sh_link < sections.size() ? &sections[section.header.sh_link] : nullptr;
        if (!symbols) return;
        Reader at(symbols->bytes);
        at.seek(ELF64_R_SYM(info) * sizeof(Elf64_Sym));
        auto symbol = at.read<Elf64_Sym>();
        if (at.ok() && symbol.st_shndx < sections.size() && sections[symbol.st_shndx].name.starts_with(kText))
            relocations[offset] = sections[symbol.st_shndx].name.substr(kText.size());
    };
    if (const Section* section = find(".rela.debug_line"))
        for (Reader at(section->bytes); !at.at_end();) {
            auto entry = at.read<Elf64_Rela>();
            if (at.ok()) relocate(*section, entry.r_offset, entry.r_info);
        }
    if (const Section* section = find(".rel.debug_line"))
        for (Reader at(section->bytes); !at.at_end();) {
            auto entry = at.read<Elf64_Rel>();
            if (at.ok()) relocate(*section, entry.r_offset, entry.r_info);
        }
    const Section* names = find(".debug_str");
    if (!LineTable(cubin, table->bytes, names ? names->bytes : std::string_view(), relocations).read())
        return broken("its line table ends in the middle or has an unknown version");
    return cubin;
}

const Cubin::Function* Cubin::find(std::string_view symbol) const {
    auto found = std::find_if(functions_.begin(), functions_.end(), [&](auto& function) { return function.symbol == symbol; });
    return found == functions_.end() ? nullptr : &*found;
}

std::vector<profile::Frame> Cubin::frames(const Function& function, uint64_t pc) const {
    auto after = std::upper_bound(function.rows.begin(), function.rows.end(), pc,
                                  [](uint64_t address, const Row& row) { return address < row.address; });
    std::vector<profile::Frame> out;
    if (after == function.rows.begin()) return out;
    std::set<const Row*> seen;
    for (const Row* row = &after[-1]; row && seen.insert(row).second;) {
        out.push_back({row->file < files_.size() ? files_[row->file] : "", row->line, base::demangle(row->context ? row->inlined : function.symbol)});
        row = row->context && row->context <= function.rows.size() ? &function.rows[row->context - 1] : nullptr;
    }
    return out;
}

}  // namespace lanescope::hardware
