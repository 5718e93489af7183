#include "emulator/settings.h"

#include <gmock/gmock.h>

namespace lanescope::emulator {
namespace {

Lookup from(const std::map<std::string, std::string>& variables) {
    return [&variables](const char* name) {
        auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
    };
}

TEST(Settings, NothingSetMeansDefaults) { EXPECT_EQ(*settings_from_environment(from({})), Settings{}); }

TEST(Settings, TheEnvironmentCarriesEverySetting) {
    Settings all{.gpu = "k80", .l1 = Settings::L1::kOff, .cold = false, .counts_only = true, .kernel_timeout_s = 2.5, .what_if_s = 3,
                 .report_leaks = true, .race_check = false, .undefined = Settings::Undefined::kError, .launches = {.kernel = "^add", .skip = 3, .count = 5}, .session = "/tmp/a b", .ptxas = "none"};
    std::map<std::string, std::string> variables = to_environment(all);
    EXPECT_EQ(*settings_from_environment(from(variables)), all);
    for (const auto& [name, value] : to_environment(Settings{})) {   // each variable that differs carries something
        SCOPED_TRACE(name);
        EXPECT_NE(variables.at(name), value);
    }
}

TEST(Settings, ABadValueNamesItsVariable) {
    for (const char* name : {"LANESCOPE_L1", "LANESCOPE_CACHES", "LANESCOPE_COUNTS_ONLY", "LANESCOPE_LEAKS", "LANESCOPE_RACE_CHECK", "LANESCOPE_UNINITIALIZED",
                             "LANESCOPE_KERNEL_TIMEOUT"}) {
        std::map<std::string, std::string> variables{{name, "-7x"}};
        auto settings = settings_from_environment(from(variables));
        ASSERT_FALSE(settings) << name;
        EXPECT_THAT(settings.errors()[0].message, testing::StartsWith(std::string(name) + "=-7x: expected "));
    }
    for (const char* name : {"LANESCOPE_LAUNCH_SKIP", "LANESCOPE_LAUNCH_COUNT"}) {
        std::map<std::string, std::string> variables{{name, "-7x"}};
        auto settings = settings_from_environment(from(variables));
        ASSERT_FALSE(settings) << name;
        EXPECT_EQ(settings.errors()[0].message, std::string(name) + "=-7x: expected a whole number");
    }
    for (const char* seconds : {"-1", "inf", "nan"}) {
        std::map<std::string, std::string> variables{{"LANESCOPE_KERNEL_TIMEOUT", seconds}};
        EXPECT_FALSE(settings_from_environment(from(variables))) << seconds;
    }
}

}  // namespace
}  // namespace lanescope::emulator
