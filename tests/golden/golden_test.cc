// Runs the text cases of this folder: `golden_test [--rewrite] [FILE…]`.
//
// A case is an input, a line `====` and what must come out. The folder says what is done to the input: `ptx` parses and prints it,
// `counts` runs it as its first line says (`// run: OPTIONS of lanescope run`) and lists what each access did: the counts of requests, or those
// that the second line names (`// list: NAMES`).
// A case whose name begins with `bad-` must be refused, and what comes out are the messages; any other must be accepted.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "base/file.h"
#include "profile/profile.h"
#include "ptx/parser.h"
#include "ptx/printer.h"

namespace {

namespace fs = std::filesystem;
using namespace lanescope;

constexpr std::string_view kSeparator = "====\n";

struct Outcome {
    bool accepted = false;
    std::string text;
};

Outcome parse_and_print(const std::string& input, const std::string& name) {
    const auto module = ptx::parse(input, name);
    if (!module) return {false, base::to_string(module.errors()) + "\n"};
    const std::string printed = ptx::print(*module);
    const auto again = ptx::parse(printed, "printed");
    if (!again) return {true, printed + "…which cannot be parsed again:\n" + base::to_string(again.errors()) + "\n"};
    if (ptx::print(*again) != printed) return {true, printed + "…which prints differently when parsed again:\n" + ptx::print(*again)};
    return {true, printed};
}

/// The words behind `// KEY: ` at the text's beginning; empty: it does not begin so.
std::vector<std::string> words_of(std::string_view text, const std::string& key) {
    std::vector<std::string> words;
    if (!text.starts_with("// " + key + ": ")) return words;
    std::istringstream line{std::string(text.substr(key.size() + 5, text.find('\n') - key.size() - 5))};
    for (std::string word; line >> word;) words.push_back(word);
    return words;
}

/// One line an access: what it is, then its counts that are not zero.
std::string list_accesses(const profile::Profile& profile, std::vector<std::string> names) {
    if (names.empty()) names = {"requests", "sectors", "ideal_sectors", "transactions", "transaction_bytes", "wavefronts", "ideal_wavefronts", "constant_words"};
    std::string text;
    for (const profile::Launch& launch : profile.launches)
        for (const profile::Line& line : launch.lines)
            for (const profile::Access& access : line.accesses) {
                text += access.space + ' ' + access.operation + ' ' + std::to_string(access.bytes) + " B:";
                for (const std::string& name : names)
                    if (const auto found = access.metrics.find(name); found != access.metrics.end() && found->second != 0)
                        text += ' ' + name + ' ' + std::to_string(static_cast<long long>(found->second));
                text += '\n';
            }
    return text;
}

Outcome run_and_count(const std::string& input, const std::string& name) {
    constexpr std::string_view kRun = "// run: ";
    if (!input.starts_with(kRun)) return {false, "the first line must be `// run: OPTIONS`\n"};
    const std::string options = input.substr(kRun.size(), input.find('\n') - kRun.size());
    const fs::path folder = fs::temp_directory_path() / ("lanescope-golden-" + std::to_string(::getpid()));
    fs::create_directories(folder);
    const fs::path source = folder / fs::path(name).replace_extension(".ptx"), json = folder / "profile.json", messages = folder / "messages";
    if (const auto written = base::write_file(source, input); !written) return {false, base::to_string(written.errors()) + "\n"};
    // The options come from this folder's files, so a shell may see them.
    const std::string command = "cd '" + folder.string() + "' && " + LANESCOPE_BINARY + " run " + source.filename().string() +
                                " --quiet --json profile.json " + options + " 2> messages";
    const int status = std::system(command.c_str());
    Outcome outcome{status == 0, {}};
    if (const auto text = base::read_file(messages); text && status != 0) outcome.text = *text;
    if (status == 0) {
        const auto text = base::read_file(json);
        const auto profile = text ? profile::from_json(*text, "profile.json") : base::Result<profile::Profile>(text.errors());
        outcome.text = profile ? list_accesses(*profile, words_of(std::string_view(input).substr(input.find('\n') + 1), "list")) : base::to_string(profile.errors()) + "\n";
    }
    fs::remove_all(folder);
    return outcome;
}

const std::map<std::string, Outcome (*)(const std::string&, const std::string&)> kFolders = {{"ptx", parse_and_print}, {"counts", run_and_count}};

/// The first line in which the texts differ, with both versions of it.
std::string first_difference(std::string_view expected, std::string_view actual) {
    for (unsigned line = 1;; ++line) {
        const auto take = [](std::string_view& text) {
            const size_t end = std::min(text.find('\n'), text.size());
            const std::string_view first = text.substr(0, end);
            text.remove_prefix(std::min(end + 1, text.size()));
            return first;
        };
        if (expected.empty() && actual.empty()) return {};
        const std::string_view a = take(expected), b = take(actual);
        if (a != b)
            return "line " + std::to_string(line) + " of the output\n  expected: " + std::string(a) + "\n  but got:  " + std::string(b) +
                   "\n";
    }
}

bool run(const fs::path& path, bool rewrite) {
    const auto complain = [&](const std::string& what) {
        std::cerr << path.string() << ": " << what << '\n';
        return false;
    };
    const auto folder = kFolders.find(path.parent_path().filename().string());
    if (folder == kFolders.end()) return complain("nothing is known to do in this folder");
    const auto file = base::read_file(path);
    if (!file) return complain(base::to_string(file.errors()));
    const size_t separator = file->find("\n" + std::string(kSeparator));
    const std::string input = file->substr(0, separator == std::string::npos ? separator : separator + 1);
    const Outcome outcome = folder->second(input, path.filename().string());
    if (outcome.accepted == path.filename().string().starts_with("bad-"))
        return complain(outcome.accepted ? "should be refused" : "is refused:\n" + outcome.text);
    if (rewrite) {
        const auto written = base::write_file(path, input + std::string(kSeparator) + outcome.text);
        return written.ok() || complain(base::to_string(written.errors()));
    }
    if (separator == std::string::npos) return complain("has no line ====");
    const std::string expected = file->substr(separator + 1 + kSeparator.size());
    return outcome.text == expected || complain(first_difference(expected, outcome.text));
}

}  // namespace

int main(int argc, char** argv) {
    bool rewrite = false;
    std::vector<fs::path> cases;
    for (int i = 1; i < argc; ++i) {
        if (std::string_view(argv[i]) == "--rewrite")
            rewrite = true;
        else
            cases.emplace_back(fs::absolute(argv[i]));
    }
    if (cases.empty())
        for (const auto& [folder, action] : kFolders)
            for (const auto& entry : fs::directory_iterator(fs::path(LANESCOPE_SOURCE_DIR) / "tests/golden" / folder))
                cases.push_back(entry.path());
    std::sort(cases.begin(), cases.end());
    const auto failures = std::count_if(cases.begin(), cases.end(), [&](const fs::path& path) { return !run(path, rewrite); });
    std::cout << cases.size() << " cases, " << failures << " failed\n";
    return failures == 0 && !cases.empty() ? 0 : 1;
}
