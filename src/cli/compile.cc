#include "cli/compile.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/file.h"
#include "cli/process.h"

namespace lanescope::cli {
namespace {

namespace fs = std::filesystem;

/// 128 bits of FNV-1a, as hexadecimal digits: names of cache entries, not a defence against attackers.
class Digest {
public:
    Digest& add(std::string_view text) {
        for (const char c : text) mix(static_cast<unsigned char>(c));
        mix(0xFF);  // ends the text: "ab" + "c" is not "a" + "bc"
        return *this;
    }
    std::string text() const { return fmt::format("{:016x}{:016x}", a_, b_); }

private:
    void mix(uint64_t byte) {
        a_ = (a_ ^ byte) * 0x100000001B3ull;
        b_ = (b_ ^ (byte + 0x9E37)) * 0x100000001B3ull;
    }
    uint64_t a_ = 0xCBF29CE484222325ull, b_ = 0x84222325CBF29CE4ull;
};

fs::path cache_folder() {
    if (const std::string xdg = environment("XDG_CACHE_HOME"); !xdg.empty()) return fs::path(xdg) / "lanescope";
    if (const std::string home = environment("HOME"); !home.empty()) return fs::path(home) / ".cache" / "lanescope";
    return fs::temp_directory_path() / fmt::format("lanescope-cache-{}", ::getuid());
}

/// The contents of the file as it is now; nothing where it cannot be read.
std::string digest_of_file(const fs::path& path) {
    const auto bytes = base::read_file(path);
    return bytes.ok() ? Digest().add(*bytes).text() : std::string();
}

/// Whether every file that the kept program was made of is as it was: lines "DIGEST PATH".
bool is_current(const std::string& inputs) {
    for (size_t start = 0; start < inputs.size();) {
        const size_t end = std::min(inputs.find('\n', start), inputs.size());
        const std::string line = inputs.substr(start, end - start);
        const size_t blank = line.find(' ');
        if (blank == std::string::npos || digest_of_file(line.substr(blank + 1)) != line.substr(0, blank)) return false;
        start = end + 1;
    }
    return !inputs.empty();
}

std::string modification(const fs::path& path) {
    std::error_code error;
    const auto time = fs::last_write_time(fs::canonical(path, error), error);
    return error ? std::string() : std::to_string(time.time_since_epoch().count());
}

}  // namespace

base::Result<fs::path> find_nvcc() {
    std::vector<fs::path> candidates;
    if (const auto found = find_on_path("nvcc")) candidates.push_back(*found);
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const std::string home = environment(variable); !home.empty()) candidates.push_back(fs::path(home) / "bin/nvcc");
    candidates.emplace_back("/usr/local/cuda/bin/nvcc");
    for (fs::path folder = own_folder(); !folder.empty(); folder = folder.parent_path()) {
        candidates.push_back(folder / ".cuda/bin/nvcc");
        if (folder == folder.root_path()) break;
    }
    for (const fs::path& candidate : candidates)
        if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    return base::error("NVIDIA's compiler nvcc was not found on PATH, in $CUDA_HOME, in /usr/local/cuda or in .cuda; "
                       "scripts/install-dependencies fetches it (no GPU or driver is needed)");
}

std::string find_ptxas() {
    if (std::string chosen = environment("LANESCOPE_PTXAS"); !chosen.empty()) return chosen;
    const auto nvcc = find_nvcc();
    if (!nvcc.ok()) return {};
    const fs::path beside = nvcc->parent_path() / "ptxas";
    return ::access(beside.c_str(), X_OK) == 0 ? beside.string() : std::string();
}

uint32_t virtual_architecture(uint32_t compute_capability, const std::string& nvcc_list) {
    uint32_t best = 75;
    for (size_t at = nvcc_list.find("sm_"); at != std::string::npos; at = nvcc_list.find("sm_", at + 1)) {
        const auto architecture = static_cast<uint32_t>(std::strtoul(nvcc_list.c_str() + at + 3, nullptr, 10));
        if (architecture <= compute_capability) best = std::max(best, architecture);
    }
    return best;
}

std::vector<std::string> words(const std::string& text) {
    std::vector<std::string> out;
    std::string word;
    bool in_word = false;
    char quote = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
            if (in_word) out.push_back(word);
            word.clear();
            in_word = false;
            continue;
        }
        in_word = true;
        if (quote == 0 && (c == '\'' || c == '"')) quote = c;
        else if (c == quote) quote = 0;
        else if (c == '\\' && quote != '\'' && i + 1 < text.size()) word += text[++i];
        else word += c;
    }
    if (in_word) out.push_back(word);
    return out;
}

std::vector<std::string> dependencies(const std::string& rule) {
    std::vector<std::string> out;
    const size_t colon = rule.find(": ");
    if (colon == std::string::npos) return out;
    std::string word;
    const auto finish = [&] {
        if (!word.empty()) out.push_back(word);
        word.clear();
    };
    for (size_t i = colon + 2; i < rule.size(); ++i) {
        const char c = rule[i];
        if (c == '\\' && i + 1 < rule.size() && (rule[i + 1] == ' ' || rule[i + 1] == '#' || rule[i + 1] == '\\')) word += rule[++i];
        else if (c == '\\' && i + 1 < rule.size() && rule[i + 1] == '\n') finish(), ++i;
        else if (c == '$' && i + 1 < rule.size() && rule[i + 1] == '$') word += rule[++i];
        else if (c == ' ' || c == '\t' || c == '\n') finish();
        else word += c;
    }
    finish();
    return out;
}

base::Result<fs::path> runtime_folder() {
    std::error_code error;
    for (const char* candidate : {"../lib/cudart", "../lib/lanescope"}) {
        const fs::path folder = fs::weakly_canonical(own_folder() / candidate, error);
        if (fs::exists(folder / "libcudart.so.13", error)) return folder;
    }
    return base::error("the emulated CUDA runtime (libcudart.so.13) is not beside this program; build the target lanescope_runtimes", {own_folder().string(), 0, 0});
}

base::Result<Compiled> compile(const fs::path& source, uint32_t compute_capability, const std::vector<std::string>& flags, bool show_progress, Target target) {
    const auto text = base::read_file(source);
    if (!text.ok()) return text.errors();
    const auto nvcc = find_nvcc();
    if (!nvcc.ok()) return nvcc.errors();
    const auto list = output_of({nvcc->string(), "--list-gpu-code"});
    if (!list.ok()) return list.errors();
    const uint32_t architecture = virtual_architecture(compute_capability, *list);

    std::error_code error;
    Digest key;
    key.add(fs::absolute(source, error).string()).add(*text).add(nvcc->string()).add(modification(*nvcc)).add(std::to_string(architecture));
    if (target == Target::kHardware) key.add("hardware");
    for (const std::string& flag : flags) key.add(flag);
    for (const char* variable : {"NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS", "NVCC_CCBIN", "CPATH", "CPLUS_INCLUDE_PATH"}) key.add(environment(variable));
    const fs::path folder = cache_folder() / "programs" / key.text(), program = folder / source.stem();
    if (const auto inputs = base::read_file(folder / "inputs"); inputs.ok() && fs::exists(program, error) && is_current(*inputs))
        return Compiled{program, true};

    const fs::path part = folder.string() + fmt::format(".part{}", ::getpid());
    fs::remove_all(part, error);
    fs::create_directories(part, error);
    if (error) return base::error("cannot make this folder: " + error.message(), {part.string(), 0, 0});
    const fs::path made = part / source.stem(), rule = part / "rule";
    Command command;
    command.output_to_stderr = true;
    command.argv = {nvcc->string(), "-lineinfo", "-O3", "-gencode"};
    if (target == Target::kHardware) command.argv.push_back(fmt::format("arch=compute_{0},code=[sm_{0},compute_{0}]", architecture));
    else command.argv.insert(command.argv.end(), {fmt::format("arch=compute_{0},code=compute_{0}", architecture), "-cudart", "shared"});
    command.argv.insert(command.argv.end(), flags.begin(), flags.end());
    command.argv.insert(command.argv.end(), {"-MD", "-MF", rule.string(), "-o", made.string(), source.string()});
    if (const auto runtime = runtime_folder(); runtime.ok() && target == Target::kEmulated)
        command.argv.insert(command.argv.end(), {"-L" + runtime->string(), "-Xlinker", "--as-needed", "-lcuda"});
    if (show_progress) std::fprintf(stderr, "lanescope: compiling %s (once; it is kept)\n", base::printable(source.filename().string()).c_str());
    const auto status = run(command);
    if (!status.ok() || *status != 0) {
        fs::remove_all(part, error);
        return status.ok() ? base::error(fmt::format("nvcc could not compile it (status {})", *status), {source.string(), 0, 0}) : status.errors().front();
    }
    std::string inputs;
    const auto made_of = base::read_file(rule);
    for (const std::string& file : made_of.ok() ? dependencies(*made_of) : std::vector<std::string>{source.string()}) {
        const fs::path path = fs::absolute(file, error);
        inputs += digest_of_file(path) + " " + path.string() + "\n";
    }
    if (const auto written = base::write_file(part / "inputs", inputs); !written.ok()) return written.errors();
    fs::remove(rule, error);
    fs::remove_all(folder, error);
    fs::rename(part, folder, error);
    if (error && !fs::exists(program)) return base::error("cannot keep the compiled program: " + error.message(), {folder.string(), 0, 0});
    return Compiled{program, false};
}

}  // namespace lanescope::cli
