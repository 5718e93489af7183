// Includes only go downwards: each folder of src/ may use what docs/architecture.md says, and what that may use in turn.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Folders = std::set<std::string>;

const std::map<std::string, Folders> kMayUse = {
    {"base", {}},
    {"gpu", {"base"}},
    {"ptx", {"base"}},
    {"profile", {"base"}},
    {"exec", {"ptx"}},
    {"memory", {"gpu"}},
    {"hazard", {"exec"}},
    {"timing", {"memory", "profile"}},
    {"emulator", {"analysis", "exec", "memory", "hazard", "timing"}},
    {"cudart", {"emulator"}},
    {"hardware", {"gpu", "profile"}},
    {"analysis", {"gpu", "profile"}},
    {"report", {"analysis"}},
    {"lab", {"report"}},
    {"cli", {"cudart", "hardware", "lab"}},
};

/// What `folder` may include: itself and everything below it.
Folders reachable(const std::string& folder) {
    Folders all = {folder};
    for (const std::string& below : kMayUse.at(folder)) all.merge(reachable(below));
    return all;
}

/// "src/exec/grid.cc:12 includes emulator/context.h" for each edge that goes up or sideways.
std::vector<std::string> violations(const std::string& folder, const std::string& where, std::istream& text) {
    static const std::regex kInclude(R"re(^\s*#\s*include\s+"([a-z_]+)/([^"]+)")re");
    const Folders allowed = reachable(folder);
    std::vector<std::string> found;
    std::string line;
    for (int number = 1; std::getline(text, line); ++number) {
        std::smatch match;
        if (!std::regex_search(line, match, kInclude) || !kMayUse.contains(match[1]) || allowed.contains(match[1])) continue;
        found.push_back(where + ":" + std::to_string(number) + " includes " + match[1].str() + "/" + match[2].str());
    }
    return found;
}

TEST(Layering, IncludesGoDownwards) {
    const fs::path source = fs::path(LANESCOPE_SOURCE_DIR) / "src";
    size_t files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(source)) {
        const std::string extension = entry.path().extension();
        if (extension != ".h" && extension != ".cc" && extension != ".def") continue;
        const fs::path relative = fs::relative(entry.path(), source);
        const std::string folder = *relative.begin();
        ASSERT_TRUE(kMayUse.contains(folder)) << "src/" << folder << " has no place in the architecture";
        std::ifstream text(entry.path());
        for (const std::string& violation : violations(folder, "src/" + relative.string(), text)) ADD_FAILURE() << violation;
        ++files;
    }
    EXPECT_GT(files, 10u);
}

TEST(Layering, SeesAnUpwardEdge) {
    std::istringstream text("#include <vector>\n#include \"emulator/context.h\"\n#include \"ptx/module.h\"\n");
    EXPECT_EQ(violations("exec", "x.cc", text), std::vector<std::string>{"x.cc:2 includes emulator/context.h"});
}

}  // namespace
