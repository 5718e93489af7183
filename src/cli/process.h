// Starting programs without a shell, and finding them.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"

namespace lanescope::cli {

struct Command {
    std::vector<std::string> argv;                     ///< argv[0]: a path, or a name looked up on PATH
    std::map<std::string, std::string> environment;    ///< in addition to ours; replaces ours of the same name
    bool output_to_stderr = false;                     ///< what it writes to standard output goes to standard error
};

/// Runs a program to its end with our standard input, output and error. Its exit status; 128 + n where signal n ended it.
/// SIGINT, SIGTERM, SIGHUP and SIGQUIT that reach us meanwhile are handed on to it and do not end us.
/// Fails where it cannot be started, naming it.
base::Result<int> run(const Command& command);

/// Runs a program that is not talking to the user and returns what it writes to standard output. Fails where it cannot be started or its
/// exit status is not 0.
base::Result<std::string> output_of(const std::vector<std::string>& argv);

struct Captured {
    int status = 0;            ///< 128 + n where signal n ended it
    std::string output;        ///< what it wrote to standard output
};
/// Runs a program without standard input to its end and keeps its output. May be called by several threads at once; signals are not
/// handed on.
base::Result<Captured> capture(const Command& command);

/// The executable `name` on PATH.
std::optional<std::filesystem::path> find_on_path(const std::string& name);
/// The folder of the running lanescope.
std::filesystem::path own_folder();
/// Value of an environment variable; empty: not set.
std::string environment(const char* name);

/// A fresh folder, removed with everything in it in the end.
class TemporaryFolder {
public:
    static base::Result<TemporaryFolder> make();
    TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
    TemporaryFolder& operator=(TemporaryFolder&&) = delete;
    ~TemporaryFolder();
    const std::filesystem::path& path() const { return path_; }

private:
    explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
    std::filesystem::path path_;
};

}  // namespace lanescope::cli
