// The session journal: what an emulated process did, written as it happens, so that a crash, a fork or Ctrl-C loses nothing.
//
// A session is a folder; each process writes PID.journal in it. Its first line is the letter H, the start time in ns since the epoch and
// a profile without launches (gpu, argv, settings); every further line is one letter and one JSON object: L launch, T transfer, F fault.
// R INDEX START OFFSET is a launch like that whose line begins at this byte of the file but for its index and start: programs repeat
// launches, and their journals stay small.
// A line without its newline was cut by the end of the process and is passed over.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "base/diagnostic.h"
#include "profile/profile.h"

namespace lanescope::emulator {

class Journal {
public:
    /// `folder` empty: nobody listens, every append does nothing. `header`: the profile without launches.
    Journal(std::string folder, profile::Profile header) : folder_(std::move(folder)), header_(std::move(header)) {}
    ~Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    bool open() const { return !folder_.empty(); }
    void append(const profile::Launch& launch);
    void append(const profile::Transfer& transfer) { write('T', profile::to_json(transfer)); }
    void append(const profile::Fault& fault) { write('F', profile::to_json(fault)); }
    /// The first failure to write (disk full, folder gone), once; empty: all is well.
    std::string take_error();

private:
    void write(char kind, std::string text);
    bool start_file();

    std::string folder_;
    profile::Profile header_;
    int file_ = -1;
    int pid_ = 0;                ///< whose file it is: a forked child starts its own
    std::string error_;
    bool failed_ = false;
    uint64_t latest_ = 0, offset_ = 0;  ///< where the latest line and the next one begin
    std::unordered_map<std::string, uint64_t> launches_;  ///< the latest kinds of launches, without index and start → their lines' offsets
};

/// The profile of a session: its processes in the order they started, their launches numbered on. A folder without any journal gives an
/// empty profile: the program used no GPU. `sources` of the profile holds the files that lines name and that can be read.
base::Result<profile::Profile> read_session(const std::string& folder);

}  // namespace lanescope::emulator
