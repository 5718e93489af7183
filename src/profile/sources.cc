#include <set>

#include "base/file.h"
#include "profile/profile.h"

namespace lanescope::profile {

void add_sources(Profile& profile) {
    constexpr size_t kLargestSource = 4 << 20;
    std::set<std::string> files;
    for (const Launch& launch : profile.launches)
        for (const Line& line : launch.lines) {
            files.insert(line.file);
            for (const Frame& frame : line.inlined_from) files.insert(frame.file);
        }
    for (const Fault& fault : profile.faults)
        for (const std::vector<Frame>* frames : {&fault.where, &fault.other})
            for (const Frame& frame : *frames) files.insert(frame.file);
    for (const std::string& file : files) {
        if (file.empty()) continue;
        if (base::Result<std::string> text = base::read_file(file, kLargestSource)) profile.sources[file] = base::split_lines(*text);
    }
}

}  // namespace lanescope::profile
