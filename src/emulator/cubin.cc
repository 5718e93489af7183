#include "emulator/cubin.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>

#include "base/elf.h"
#include "base/file.h"

namespace lanescope::emulator {
namespace {

namespace fs = std::filesystem;

/// Hides its file when it goes.
struct Scratch {
    fs::path path;
    ~Scratch() {
        std::error_code ignored;
        fs::remove(path, ignored);
    }
};

std::optional<fs::path> find_program(const std::string& name) {
    std::string folders = std::getenv("PATH") ? std::getenv("PATH") : "";
    folders += ":/usr/local/cuda/bin";
    std::istringstream list(folders);
    for (std::string folder; std::getline(list, folder, ':');)
        if (fs::path path = fs::path(folder) / name; !folder.empty() && ::access(path.c_str(), X_OK) == 0) return path;
    return std::nullopt;
}

/// Runs a program without a shell, its output dropped. False: it could not be started or failed.
bool run_quietly(const std::vector<std::string>& arguments) {
    std::vector<char*> argv;
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    std::string path = std::string("PATH=") + (std::getenv("PATH") ? std::getenv("PATH") : "");
    char* environment[] = {path.data(), nullptr};  // ours names libraries that are not meant for it
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    int failed = ::posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environment);
    posix_spawn_file_actions_destroy(&actions);
    if (failed) return false;
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

uint64_t hash(std::string_view text, uint64_t state = 0xcbf29ce484222325) {  // FNV-1a
    for (unsigned char c : text) state = (state ^ c) * 0x100000001b3;
    return state;
}

std::string to_text(const ModuleFacts& facts) {
    std::string text;
    for (const auto& [name, kernel] : facts) text += fmt::format("{} {} {}\n", name, kernel.registers, kernel.frame_bytes);
    return text + "end\n";
}

std::optional<ModuleFacts> from_text(const std::string& text) {
    std::istringstream in(text);
    ModuleFacts facts;
    for (std::string name; in >> name;) {
        if (name == "end") return facts;
        KernelFacts kernel;
        if (!(in >> kernel.registers >> kernel.frame_bytes)) return std::nullopt;
        facts[name] = kernel;
    }
    return std::nullopt;
}

}  // namespace

base::Result<ModuleFacts> read_cubin(std::string_view elf) {
    base::Result<std::vector<base::ElfSection>> sections = base::elf_sections(elf);
    if (!sections) return sections.errors();
    const base::ElfSection* info = base::find_section(*sections, ".nv.info");
    if (!info) return base::error("no .nv.info section: not machine code of a GPU");
    std::vector<std::string> symbols = base::elf_symbol_names(*sections);

    ModuleFacts facts;
    std::string_view bytes = info->bytes;
    while (bytes.size() >= 4) {
        uint8_t format = uint8_t(bytes[0]), attribute = uint8_t(bytes[1]);
        uint16_t size;
        std::memcpy(&size, bytes.data() + 2, sizeof size);
        size_t record = format == 4 ? 4 + size_t(size) : 4;  // formats 1…3 hold their value in these two bytes
        if (record > bytes.size()) return base::error("truncated .nv.info record");
        if (format == 4 && size >= 8 && (attribute == 0x2f || attribute == 0x11)) {
            uint32_t symbol, value;
            std::memcpy(&symbol, bytes.data() + 4, sizeof symbol);
            std::memcpy(&value, bytes.data() + 8, sizeof value);
            if (symbol < symbols.size()) {
                KernelFacts& kernel = facts[symbols[symbol]];
                (attribute == 0x2f ? kernel.registers : kernel.frame_bytes) = value;
            }
        }
        bytes.remove_prefix(record);
    }
    return facts;
}

base::Result<ModuleFacts> assemble(std::string_view ptx, uint32_t architecture, bool relocatable, const std::string& ptxas,
                                   const std::string& cache) {
    std::optional<fs::path> program = ptxas.empty() ? find_program("ptxas") : std::optional<fs::path>(ptxas);
    if (ptxas == "none" || !program) return base::error("ptxas is not there");
    struct stat about {};
    if (::stat(program->c_str(), &about) != 0) return base::error(fmt::format("{}: {}", program->string(), std::strerror(errno)));

    std::string key = fmt::format("{} {} {} {} {}", program->string(), about.st_size, about.st_mtime, architecture, relocatable);
    fs::path known;
    if (!cache.empty()) {
        known = fs::path(cache) / "registers" / fmt::format("{:016x}{:016x}", hash(ptx, hash(key)), hash(ptx));
        if (base::Result<std::string> text = base::read_file(known))
            if (std::optional<ModuleFacts> facts = from_text(*text)) return *facts;
    }

    std::error_code failed;
    fs::path folder = fs::temp_directory_path(failed);
    std::string pattern = (folder / "lanescope-XXXXXX").string();
    int file = ::mkstemp(pattern.data());
    if (file < 0) return base::error(fmt::format("{}: {}", pattern, std::strerror(errno)));
    ::close(file);
    Scratch source{pattern}, object{pattern + ".cubin"};
    if (base::Status written = base::write_file(source.path, ptx); !written) return written.errors();
    std::vector<std::string> command{program->string(), fmt::format("-arch=sm_{}", architecture)};
    if (relocatable) command.push_back("-c");
    command.insert(command.end(), {"-o", object.path.string(), source.path.string()});
    if (!run_quietly(command)) return base::error(fmt::format("{} does not translate this module for sm_{}", program->string(), architecture));
    base::Result<std::string> elf = base::read_file(object.path);
    if (!elf) return elf.errors();
    base::Result<ModuleFacts> facts = read_cubin(*elf);
    if (facts && !known.empty()) {
        fs::create_directories(known.parent_path(), failed);
        (void)base::write_file(known, to_text(*facts));  // a cache: not writing it costs time only
    }
    return facts;
}

std::string cache_folder() {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    if (cache && *cache) return std::string(cache) + "/lanescope";
    const char* home = std::getenv("HOME");
    return home && *home ? std::string(home) + "/.cache/lanescope" : std::string();
}

}  // namespace lanescope::emulator
