// The page that --html writes, opened in headless Chromium: a script behind it clicks and measures, the test reads what it found.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "accuracy/table.h"
#include "analysis/compare.h"
#include "analysis/pattern.h"
#include "analysis/summary.h"
#include "analysis/testing.h"
#include "base/file.h"
#include "cli/output.h"
#include "cli/process.h"
#include "profile/catalogue.h"
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
found.beside = [...document.querySelectorAll("#beside tr")].map(row => [...row.children].map(cell => cell.textContent).join("|"));
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
    std::string found(const profile::Profile& profile, const std::vector<std::string>& options = {}, const analysis::Comparison* beside = nullptr) {
        return found_in(report::html(analysis::summarize(profile), beside), options);
    }
    std::string found_in(const std::string& html, const std::vector<std::string>& options) {
        const std::string page = file("probe.html");
        EXPECT_TRUE(base::write_file(page, html + kProbe).ok());
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

#ifdef LANESCOPE
/// A launch of patterns.cu with 2²⁰ elements as Nsight Compute recorded it on an H200. All its memory instructions stand in line 28.
profile::Profile recorded(size_t launch) {
    const accuracy::Row row = accuracy::read_table(ACCURACY "h200/patterns-1m.csv").at(launch);
    profile::Profile profile;
    profile.backend = "hardware";
    profile.gpu_name = "h200";
    profile.launches.resize(1);
    profile::Launch& out = profile.launches[0];
    out.index = launch;
    out.kernel = row.at("Kernel Name");
    for (const auto& [name, text] : row)
        if (const profile::Metric* metric = profile::find_metric(name); metric != nullptr && metric->name == name) out.metrics[name] = accuracy::number(row, name);
    profile::Line& line = out.lines.emplace_back();
    line.file = "patterns.cu";
    line.line = 17;
    for (const char* name : {"memory_l2_theoretical_sectors_global", "memory_l2_theoretical_sectors_global_ideal"}) line.metrics[name] = out.metrics.at(name);
    return profile;
}

// `run --backend both` and a diff of the two: kernel and line, both values and the error. add_offset(1): 2 × 163840 load and 131072 store sectors.
TEST_F(Page, PredictionBesideMeasurement) {
    const std::string predicted = file("predicted.json"), measured = file("measured.json"), page = file("diff.html");
    const auto ran = cli::run({{LANESCOPE, "run", "--quiet", "--gpu", "h200", "--kernel", "add_offset", "--launch-skip", "1", "--launch-count", "1", "--json", predicted,
                                ACCURACY "programs/patterns.cu", "1048576"}, {}, false});
    ASSERT_TRUE(ran.ok() && *ran == 0);
    ASSERT_TRUE(base::write_file(measured, profile::to_json(recorded(1))).ok());
    for (const bool turned : {false, true}) {        // whichever comes first
        const auto compared = cli::capture({{LANESCOPE, "diff", "--quiet", "--html", page, turned ? measured : predicted, turned ? predicted : measured}, {}, false});
        ASSERT_TRUE(compared.ok() && compared->status == 0) << compared->output;
        const std::string seen = found_in(base::read_file(page).value(), {"--window-size=500,900"});
        EXPECT_THAT(seen, HasSubstr("|predicted|measured|error"));
        EXPECT_THAT(seen, HasSubstr("\"sectors|458752|458752|same\""));
        EXPECT_THAT(seen, HasSubstr("\"L2 sectors written|131072|131072|same\""));
        EXPECT_THAT(seen, ::testing::ContainsRegex("time\\|[0-9.]+ µs\\|5.28 µs\\|[+-][0-9.]+ %"));   // 5280 ns were recorded
        EXPECT_THAT(seen, HasSubstr("\"rows\":1,"));
        EXPECT_THAT(seen, HasSubstr("\"overflow\":0,"));
        // Kernel and line have the sectors each.
        size_t tables = 0;
        for (size_t at = seen.find("\"sectors|"); at != std::string::npos; at = seen.find("\"sectors|", at + 1)) ++tables;
        EXPECT_EQ(tables, 2u);
    }
}
#endif

TEST_F(Page, BeforeAndAfter) {
    const profile::Profile before = sample("transpose");
    profile::Profile after = before;
    after.launches[1].metrics["gpu__time_duration.sum"] = 12000;
    const analysis::Comparison comparison = analysis::compare(before, after);
    const std::string seen = found(after, {"--window-size=1280,900"}, &comparison);
    EXPECT_THAT(seen, HasSubstr("|before|after|change"));
    EXPECT_THAT(seen, HasSubstr("\"time|8 µs|12 µs|+50 %\""));
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
