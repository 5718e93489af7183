// The page that --html writes, opened in headless Chromium: a script behind it clicks and measures, the test reads what it found.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/pattern.h"
#include "analysis/summary.h"
#include "analysis/testing.h"
#include "base/file.h"
#include "cli/process.h"
#include "report/html.h"

namespace lanescope {
namespace {

using ::testing::HasSubstr;

constexpr const char* kHostile = "</script><img src=x onerror=\"document.body.dataset.hacked=1\"><b>'&amp;";

/// A strided store with advice, a shared access with conflicts, transfers.
profile::Profile sample(const std::string& name) {
    profile::Profile profile = analysis::make_profile();
    profile.settings["caches"] = "cold";
    profile::Launch& launch = profile.launches[1];
    launch.kernel = name + "(float*)";
    profile::Access column = analysis::make_access("shared", "load", {{"instructions", 10}, {"requests", 10}, {"wavefronts", 320}, {"ideal_wavefronts", 10}}, 128);
    column.instruction = 9;
    launch.lines.push_back(analysis::make_line(5, {column}));
    profile::WhatIf tried;
    tried.change = "tile_staging";
    tried.where = {{"/src/copy.cu", 7, ""}};
    tried.instructions = {0};
    tried.before = {{"time_ns", 8000}, {"sectors", 3600}, {"dram_bytes", 1e6}};
    tried.after = {{"time_ns", 4000}, {"sectors", 800}, {"dram_bytes", 5e5}};
    launch.what_if = {tried};
    profile.sources["/src/copy.cu"][6] = "    out[x * n + y] = in[y * n + x];  // " + name;
    analysis::classify(profile);
    return profile;
}

// Opens every line of the first kernel in turn and notes what it draws. A page is as wide as the window or the phone has to scroll sideways.
constexpr const char* kProbe = R"js(<script>
const found = { rows: 0, lanes: 0, sectors: 0, banks: 0, offers: document.querySelectorAll(".offer").length, images: 0, heat: document.querySelectorAll(".row .heat i").length };
for (const row of [...document.querySelectorAll(".row[tabindex]")]) {
  if (row.getAttribute("aria-expanded") !== "true") row.click();
  ++found.rows;
  const detail = document.querySelector(".detail");
  found.lanes += detail.querySelectorAll("svg circle").length;
  found.sectors += detail.querySelectorAll('svg[aria-label*="sectors"]').length;
  found.banks += detail.querySelectorAll('svg[aria-label*="banks"]').length;
}
found.images = document.querySelectorAll("img").length;
found.hacked = document.body.dataset.hacked || "";
found.overflow = document.documentElement.scrollWidth - window.innerWidth;
found.width = window.innerWidth;
found.background = getComputedStyle(document.body).backgroundColor;
document.body.replaceChildren(document.createTextNode("FOUND " + JSON.stringify(found) + " END"));
</script>)js";

class Page : public ::testing::Test {
protected:
    void SetUp() override {
        auto made = cli::TemporaryFolder::make();
        ASSERT_TRUE(made.ok());
        folder_ = std::make_unique<cli::TemporaryFolder>(*std::move(made));
    }
    std::string file(const char* name) const { return (folder_->path() / name).string(); }

    std::string chromium(std::vector<std::string> options, const std::string& page) {
        std::vector<std::string> command = {CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=2000", "--user-data-dir=" + file("profile")};
        command.insert(command.end(), options.begin(), options.end());
        command.push_back("file://" + page);
        const auto done = cli::capture({command, {}, false});
        EXPECT_TRUE(done.ok());
        return done.ok() ? done->output : "";
    }
    std::string found(const profile::Profile& profile, const std::vector<std::string>& options = {}) {
        const std::string page = file("probe.html");
        EXPECT_TRUE(base::write_file(page, report::html(analysis::summarize(profile)) + kProbe).ok());
        std::vector<std::string> all = {"--dump-dom"};
        all.insert(all.end(), options.begin(), options.end());
        const std::string dom = chromium(all, page);
        const size_t begin = dom.find("FOUND "), end = dom.find(" END");
        EXPECT_NE(begin, std::string::npos) << dom.substr(0, 400);
        return begin == std::string::npos ? "" : dom.substr(begin, end - begin);
    }

private:
    std::unique_ptr<cli::TemporaryFolder> folder_;
};

TEST_F(Page, DrawsLanesOnSectorsAndBanks) {
    const std::string seen = found(sample("transpose"), {"--window-size=1280,900"});
    EXPECT_THAT(seen, HasSubstr("\"rows\":2,"));      // lines 7 and 5
    EXPECT_THAT(seen, HasSubstr("\"lanes\":64,"));    // a load and a store of 32 lanes
    EXPECT_THAT(seen, HasSubstr("\"sectors\":2,"));
    EXPECT_THAT(seen, HasSubstr("\"banks\":1,"));
    EXPECT_THAT(seen, HasSubstr("\"heat\":2"));
    EXPECT_THAT(seen, HasSubstr("\"offers\":"));
    EXPECT_THAT(seen, ::testing::Not(HasSubstr("\"offers\":0")));
    EXPECT_THAT(seen, HasSubstr("\"overflow\":0,"));
}

TEST_F(Page, FitsAPhone) { EXPECT_THAT(found(sample("transpose_with_a_long_name_" + std::string(120, 'x')), {"--window-size=500,900"}), HasSubstr("\"overflow\":0,")); }

TEST_F(Page, HostileNamesStayText) {
    profile::Profile profile = sample(kHostile);
    profile.argv = {kHostile};
    profile.transfers[0].memory = kHostile;
    const std::string seen = found(profile);
    EXPECT_THAT(seen, HasSubstr("\"images\":0,"));
    EXPECT_THAT(seen, HasSubstr("\"hacked\":\"\""));
}

TEST_F(Page, DarkAndLight) {
    const std::string light = found(sample("transpose")), dark = found(sample("transpose"), {"--force-dark-mode", "--blink-settings=preferredColorScheme=0"});
    EXPECT_THAT(light, HasSubstr("rgb(246, 247, 249)"));   // --page
    EXPECT_THAT(dark, HasSubstr("rgb(15, 19, 26)"));
}

TEST_F(Page, Screenshot) {
    const std::string page = file("page.html"), picture = file("page.png");
    ASSERT_TRUE(base::write_file(page, report::html(analysis::summarize(sample("transpose")))).ok());
    chromium({"--screenshot=" + picture, "--window-size=1280,900"}, page);
    const auto png = base::read_file(picture);
    ASSERT_TRUE(png.ok());
    ASSERT_GT(png->size(), 24u);
    EXPECT_EQ(png->substr(1, 3), "PNG");
    const auto number = [&](size_t at) { return (uint32_t(uint8_t((*png)[at])) << 24) | (uint32_t(uint8_t((*png)[at + 1])) << 16) | (uint32_t(uint8_t((*png)[at + 2])) << 8) | uint8_t((*png)[at + 3]); };
    EXPECT_EQ(number(16), 1280u);                     // IHDR: width, height
    EXPECT_EQ(number(20), 900u);
    EXPECT_GT(png->size(), 30000u) << "an empty page is smaller";
}

}  // namespace
}  // namespace lanescope
