#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include <nlohmann/json.hpp>

#include "analysis/pattern.h"
#include "analysis/testing.h"
#include "report/csv.h"
#include "report/difference.h"
#include "report/html.h"
#include "report/sarif.h"
#include "report/terminal.h"
#include "report/text.h"

namespace lanescope::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Names that try to do something to a terminal, a page or a table.
constexpr const char* kHostile = "\x1b[31m\xc2\x9b" "2J\x7f\u202e</script><img src=x onerror=alert(1)>\"',\nrm -rf";

profile::Profile sample() {
    profile::Profile profile = analysis::make_profile();
    analysis::classify(profile);
    return profile;
}

profile::Profile hostile() {
    profile::Profile profile = sample();
    for (profile::Launch& launch : profile.launches) {
        launch.kernel = kHostile;
        launch.symbol = kHostile;
        launch.notes = {kHostile};
        launch.absent = {{kHostile, kHostile}};
        for (profile::Line& line : launch.lines) line.file = kHostile;
    }
    profile.gpu_name = kHostile;
    profile.argv = {kHostile};
    profile.settings = {{kHostile, kHostile}};
    profile.transfers[0].kind = profile.transfers[0].memory = kHostile;
    profile.faults = {{kHostile, kHostile, false, 0, {{kHostile, 7, kHostile}}, {}}};
    profile.sources = {{kHostile, std::vector<std::string>(8, kHostile)}};
    return profile;
}

/// With a change that was tried and gains.
profile::Profile advised() {
    profile::Profile profile = sample();
    profile::WhatIf tried;
    tried.change = "tile_staging";
    tried.where = {{"/src/copy.cu", 7, ""}};
    tried.instructions = {0};
    tried.before = {{"time_ns", 8000}, {"sectors", 3200}};
    tried.after = {{"time_ns", 4000}, {"sectors", 400}};
    profile.launches[1].what_if = {tried};
    return profile;
}

std::string terminal_of(const profile::Profile& profile, const Style& style) { return terminal(analysis::summarize(profile, style.verbose), style); }

// --- text

TEST(Text, ColumnsCountCharactersNotBytes) {
    EXPECT_EQ(columns("abc"), 3u);
    EXPECT_EQ(columns("×·█"), 3u);
    EXPECT_EQ(columns("内存"), 4u);                  // two wide characters
    EXPECT_EQ(columns("e\xCC\x81"), 1u);             // a combining accent
    EXPECT_EQ(columns("\x1b[1;31mred\x1b[0m"), 3u);
}

TEST(Text, FitCutsBetweenCharacters) {
    const Style style;
    EXPECT_EQ(fit(style, "abcdef", 6), "abcdef");
    EXPECT_EQ(fit(style, "abcdef", 4), "abc…");
    EXPECT_EQ(fit(style, "内存内存", 4), "内…");
    EXPECT_EQ(fit(style, "abc", 0), "");
}

TEST(Text, WrapBreaksAtBlanks) {
    EXPECT_EQ(wrap("one two three", 7, 2), "one two\n  three");
    EXPECT_EQ(wrap("a incomprehensibilities b", 5, 1), "a\n incomprehensibilities\n b");
    EXPECT_EQ(wrap("", 5, 1), "");
}

TEST(Text, NumbersForPeople) {
    EXPECT_EQ(count(131072), "131 k");
    EXPECT_EQ(count(4096), "4096");
    EXPECT_EQ(bytes(4194304), "4.19 MB");
    EXPECT_EQ(bytes(999.9), "1 kB") << "never 1e+03";
    EXPECT_EQ(percent(0.125), "12.5 %");
    EXPECT_EQ(percent(1), "100 %");
    EXPECT_EQ(percent(0.2), "20 %");
    EXPECT_EQ(time(5216), "5.22 µs");
}

TEST(Text, BarsFillTheirShare) {
    const Style style;
    EXPECT_EQ(bar(style, 1, 2, 4), "██");
    EXPECT_EQ(bar(style, 1, 1000, 4), "▏") << "something is never nothing";
    EXPECT_EQ(bar(style, 0, 0, 4), "");
    Style ascii;
    ascii.unicode = false;
    EXPECT_EQ(bar(ascii, 3, 4, 4), "###");
}

// --- terminal

TEST(Terminal, SaysFirstWhatIsWrong) {
    const std::string report = terminal_of(sample(), {});
    EXPECT_THAT(report, HasSubstr("✗ transpose<0>         line 7: 32 sectors, not 4"));
    EXPECT_THAT(report, HasSubstr("copy.cu:7 stores 32 sectors a request where 4 would do"));
    EXPECT_THAT(report, HasSubstr("  copy.cu:7  out[x * n + y] = in[y * n + x];"));
    EXPECT_THAT(report, HasSubstr("✗ store 4 B, transposed 4096 B"));
    EXPECT_LT(report.find("transpose<(int)0>(const"), report.find("copy(const")) << "the most expensive first";
}

TEST(Terminal, KeepsToTheWidth) {
    for (const bool verbose : {false, true})
        for (const unsigned width : {60u, 80u, 100u, 116u, 140u, 200u})
            for (const profile::Profile& profile : {sample(), hostile()}) {
                Style style;
                style.width = width;
                style.verbose = verbose;
                std::string report = terminal_of(profile, style);
                for (size_t start = 0, end; start < report.size(); start = end + 1) {
                    end = report.find('\n', start);
                    const std::string line = report.substr(start, end - start);
                    // A word longer than the line (a hostile message) is not broken.
                    if (line.find("\\x1b") == std::string::npos) {
                        EXPECT_LE(columns(line), std::max(width, 76u)) << line;
                    }
                }
            }
}

TEST(Terminal, HasNoEscapesWithoutColourAndOnlyItsOwnWith) {
    Style style;
    EXPECT_THAT(terminal_of(hostile(), style), Not(HasSubstr("\x1b")));
    style.color = true;
    EXPECT_THAT(terminal_of(hostile(), style), Not(HasSubstr("\x1b[31m<")));
    EXPECT_THAT(terminal_of(sample(), style), HasSubstr("\x1b[1;31m"));
}

TEST(Terminal, AsciiWhereNothingElseIsUnderstood) {
    Style style;
    style.unicode = false;
    std::string report = terminal_of(sample(), style);
    for (size_t at = report.find("µ"); at != std::string::npos; at = report.find("µ")) report.erase(at, 2);  // a unit stays
    EXPECT_TRUE(std::all_of(report.begin(), report.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; })) << report;
}

TEST(Terminal, OfAProgramWithoutKernels) {
    profile::Profile profile;
    EXPECT_THAT(terminal_of(profile, {}), HasSubstr("No kernel was launched."));
}

// --- tables

size_t fields_of(const std::string& row) {
    size_t fields = 1;
    bool quoted = false;
    for (const char c : row) {
        quoted ^= c == '"';
        fields += c == ',' && !quoted;
    }
    return fields;
}

TEST(Csv, EveryRowHasTheFieldsOfItsHead) {
    for (const profile::Profile& profile : {sample(), hostile()})
        for (const std::string& table : {ncu_csv(profile), nvprof_csv(profile)}) {
            const size_t fields = fields_of(table.substr(0, table.find('\n')));
            for (size_t start = 0, end; start < table.size(); start = end + 1) {
                end = table.find('\n', start);
                EXPECT_EQ(fields_of(table.substr(start, end - start)), fields) << table.substr(start, end - start);
            }
        }
}

TEST(Csv, InNsightComputesLayout) {
    const std::string table = ncu_csv(sample());
    EXPECT_TRUE(table.starts_with("\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\","));
    EXPECT_THAT(table, HasSubstr("\"0\",\"0\",\"copy\",\"127.0.0.1\",\"copy(const float*, float*)\",\"1\",\"0\",\"(128, 1, 1)\",\"(25, 1, 1)\""));
}

TEST(Csv, InNvprofsLayout) {
    // Two launches of copy with 400 load sectors each.
    EXPECT_THAT(nvprof_csv(sample()), HasSubstr("\"h200 (0)\",\"copy(const float*, float*)\",\"2\",\"gld_transactions\","));
    EXPECT_THAT(nvprof_csv(sample()), HasSubstr(",\"400\",\"400\",\"400\"\n"));
}

// --- SARIF

TEST(Sarif, HasAResultForTheBadAccess) {
    profile::Profile profile = sample();
    profile.faults = {{"race", "two blocks write x", true, 0, {{"/src/other file.cu", 3, ""}}, {}}};
    const auto log = nlohmann::json::parse(sarif(analysis::summarize(profile), "/src"));
    EXPECT_EQ(log["version"], "2.1.0");
    const auto& run = log["runs"][0];
    ASSERT_EQ(run["results"].size(), 2u);
    EXPECT_EQ(run["results"][0]["ruleId"], "memory/transposed");
    const auto& place = run["results"][0]["locations"][0]["physicalLocation"];
    EXPECT_EQ(place["artifactLocation"]["uri"], "copy.cu");
    EXPECT_EQ(place["region"]["startLine"], 7);
    EXPECT_EQ(run["results"][1]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "other%20file.cu");
    for (const auto& result : run["results"]) {
        bool found = false;
        for (const auto& rule : run["tool"]["driver"]["rules"]) found |= rule["id"] == result["ruleId"];
        EXPECT_TRUE(found) << "each result has its rule";
    }
}

// --- page

/// What the schema of SARIF 2.1.0 requires of the members that we write. Returns what is missing or wrong.
std::vector<std::string> sarif_faults(const nlohmann::json& log) {
    std::vector<std::string> faults;
    const auto expect = [&](bool holds, const std::string& what) {
        if (!holds) faults.push_back(what);
    };
    const auto text = [](const nlohmann::json& at, const char* key) { return at.contains(key) && at[key].is_string(); };
    expect(log.value("version", "") == "2.1.0", "version");
    expect(log.contains("runs") && log["runs"].is_array(), "runs");
    for (const auto& run : log.value("runs", nlohmann::json::array())) {
        expect(run.contains("tool") && run["tool"].contains("driver") && text(run["tool"]["driver"], "name"), "tool.driver.name");
        std::set<std::string> rules;
        for (const auto& rule : run["tool"]["driver"].value("rules", nlohmann::json::array())) {
            expect(text(rule, "id") && rules.insert(rule.value("id", "")).second, "rule ids are unique");
            for (const char* part : {"shortDescription", "fullDescription", "help"}) expect(!rule.contains(part) || text(rule[part], "text"), std::string("rule.") + part);
        }
        if (run.contains("columnKind")) expect(run["columnKind"] == "utf16CodeUnits" || run["columnKind"] == "unicodeCodePoints", "columnKind");
        for (const auto& result : run.value("results", nlohmann::json::array())) {
            expect(result.contains("message") && text(result["message"], "text") && !result["message"].value("text", "").empty(), "message.text");
            expect(rules.contains(result.value("ruleId", "")), "ruleId names a rule");
            const std::string level = result.value("level", "warning");
            expect(level == "none" || level == "note" || level == "warning" || level == "error", "level");
            for (const auto& place : result.value("locations", nlohmann::json::array())) {
                const auto& physical = place["physicalLocation"];
                const std::string uri = physical["artifactLocation"].value("uri", "");
                expect(result.contains("partialFingerprints") && text(result["partialFingerprints"], "primaryLocationLineHash"), "partialFingerprints");
                expect(!uri.empty() && uri.find_first_of(" <>\"{}|\\^`\n") == std::string::npos, "uri: " + uri);
                expect(physical["region"].value("startLine", 0) >= 1, "region.startLine");
                if (physical["artifactLocation"].contains("uriBaseId"))
                    expect(run.contains("originalUriBaseIds") && run["originalUriBaseIds"].contains(physical["artifactLocation"]["uriBaseId"].get<std::string>()), "uriBaseId");
            }
        }
    }
    return faults;
}

TEST(Sarif, HasTheRequiredStructure) {
    for (const profile::Profile& profile : {sample(), hostile(), advised(), profile::Profile()}) {
        const auto log = nlohmann::json::parse(sarif(analysis::summarize(profile), "/src"));
        EXPECT_THAT(sarif_faults(log), ::testing::IsEmpty());
    }
    auto broken = nlohmann::json::parse(sarif(analysis::summarize(sample()), "/src"));
    broken["runs"][0]["results"][0].erase("message");
    EXPECT_THAT(sarif_faults(broken), ::testing::Not(::testing::IsEmpty()));
}

// A line inserted above moves the finding, and code scanning knows it again; another text is another finding.
TEST(Sarif, FindingsAreKnownAgainWhenTheirLineMoves) {
    const auto fingerprint = [](const profile::Profile& profile) {
        const auto result = nlohmann::json::parse(sarif(analysis::summarize(profile), "/src"))["runs"][0]["results"][0];
        return std::pair(result["locations"][0]["physicalLocation"]["region"]["startLine"].get<int>(), result["partialFingerprints"]["primaryLocationLineHash"].get<std::string>());
    };
    profile::Profile moved = sample(), edited = sample();
    auto& source = moved.sources["/src/copy.cu"];
    source.insert(source.begin(), "");
    for (profile::Launch& launch : moved.launches)
        for (profile::Line& line : launch.lines) ++line.line;
    edited.sources["/src/copy.cu"][6] = "out[y] = 0;";
    EXPECT_EQ(fingerprint(sample()).first + 1, fingerprint(moved).first);
    EXPECT_EQ(fingerprint(sample()).second, fingerprint(moved).second);
    EXPECT_NE(fingerprint(sample()).second, fingerprint(edited).second);
}

TEST(Terminal, VerboseShowsAnExampleWarp) {
    Style style;
    style.verbose = true;
    style.width = 120;
    EXPECT_THAT(terminal_of(sample(), style), HasSubstr("example: block 0, warp 1, 32 lanes at 0x"));
    EXPECT_THAT(terminal_of(sample(), style), HasSubstr(" +4096 +8192 +12288 …"));   // down a column
    EXPECT_THAT(terminal_of(sample(), {}), Not(HasSubstr("example:")));
}

TEST(Sarif, AdviceIsAWarningAndWhatNothingMendsANote) {
    const auto results = nlohmann::json::parse(sarif(analysis::summarize(advised()), "/src"))["runs"][0]["results"];
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(results[0]["level"], "warning");
    EXPECT_EQ(results[1]["ruleId"], "advice/tile_staging");
    EXPECT_THAT(results[1]["message"]["text"].get<std::string>(), HasSubstr("would take 4 µs instead of 8 µs"));
    profile::Profile useless = advised();
    useless.launches[1].what_if[0].after = useless.launches[1].what_if[0].before;
    EXPECT_EQ(nlohmann::json::parse(sarif(analysis::summarize(useless), "/src"))["runs"][0]["results"][0]["level"], "note");
}

TEST(Terminal, ShowsWhatAChangeGains) {
    const std::string text = terminal_of(advised(), {.width = 120});
    EXPECT_THAT(text, HasSubstr("→ 2.00× as fast (8 µs → 4 µs): tile in shared memory"));
    EXPECT_THAT(text, HasSubstr("3200 → 400"));
    EXPECT_THAT(terminal_of(advised(), {.width = 120, .unicode = false}), HasSubstr("-> 2.00x as fast ("));
}

TEST(Html, HostileNamesStayText) {
    const std::string page = html(analysis::summarize(hostile()));
    EXPECT_THAT(page, Not(HasSubstr("<img")));
    // The page ends its two script elements itself and nothing else does.
    size_t ends = 0;
    for (size_t at = page.find("</script>"); at != std::string::npos; at = page.find("</script>", at + 1)) ++ends;
    EXPECT_EQ(ends, 2u);
}

TEST(Html, NeedsNoNetwork) {
    const std::string page = html(analysis::summarize(sample()));
    for (const char* forbidden : {"src=", "href=", "@import", "url(", "fetch("}) EXPECT_THAT(page, Not(HasSubstr(forbidden)));
    std::string rest = page;
    for (size_t at = rest.find("http"); at != std::string::npos; at = rest.find("http", at + 1))
        EXPECT_TRUE(rest.substr(at).starts_with("http-equiv") || rest.substr(at).starts_with("http://www.w3.org/2000/svg")) << rest.substr(at, 40);
}

TEST(Html, CarriesItsDataAsJson) {
    const std::string page = html(analysis::summarize(sample()));
    constexpr std::string_view kOpen = "<script type=\"application/json\" id=\"data\">";
    const size_t start = page.find(kOpen) + kOpen.size();
    const auto data = nlohmann::json::parse(page.substr(start, page.find("</script>", start) - start));
    EXPECT_EQ(data["kernels"][0]["short"], "transpose<0>");
    EXPECT_EQ(data["kernels"][0]["worst"], 0);
    EXPECT_EQ(data["kernels"][0]["lines"][0]["accesses"][0]["per_request"], 32);
    EXPECT_EQ(data["sources"]["/src/copy.cu"].size(), 8u);
}

// --- differences

TEST(Difference, ShowsWhatChanged) {
    const profile::Profile before = sample();
    profile::Profile after = sample();
    after.launches[1].metrics["gpu__time_duration.sum"] = 2000;
    const std::string report = difference(analysis::compare(before, after), {});
    EXPECT_THAT(report, HasSubstr("8 µs → 2 µs"));
    EXPECT_THAT(report, HasSubstr("1/4, better"));
    EXPECT_THAT(report, HasSubstr("1 kernel is the same in all counts"));
}

// No control character of a name leaves any report: neither C0 (escape, delete) nor C1, nor what turns text around.
TEST(AnyReport, LetsNoControlCharacterOut) {
    const profile::Profile profile = hostile();
    profile::Profile changed = hostile();
    changed.launches[1].metrics["gpu__time_duration.sum"] = 2000;
    changed.launches[0].kernel += "x";
    std::vector<analysis::Limit> limits = {analysis::parse_limit("sectors_per_request=4", true).value()};
    limits[0].where = kHostile;
    const analysis::Summary summary = analysis::summarize(profile, true);
    const std::vector<std::pair<const char*, std::string>> all = {
        {"terminal", terminal(summary, {.verbose = true})},
        {"ncu", ncu_csv(profile)},
        {"nvprof", nvprof_csv(profile)},
        {"sarif", sarif(summary, "/")},
        {"html", html(summary)},
        {"json", profile::to_json(profile)},
        {"diff", difference(analysis::compare(profile, changed), {})},
        {"check", broken_limits(analysis::check(profile, limits).broken, {})},
        {"message", base::to_string(base::error(kHostile, {kHostile, 1, 1}, kHostile))},
    };
    for (const auto& [name, text] : all) {
        EXPECT_THAT(text, HasSubstr("rm -rf")) << name << " shows the name";
        for (const char* forbidden : {"\x1b", "\x7f", "\xc2\x9b"}) EXPECT_THAT(text, Not(HasSubstr(forbidden))) << name;
        if (std::string_view(name) != "json") {
            EXPECT_THAT(text, Not(HasSubstr("\u202e"))) << name;
        }
        for (const char c : text) ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n') << name;
    }
}

TEST(Difference, BrokenLimitsAreClickablePlaces) {
    const profile::Profile profile = sample();
    const std::vector<analysis::Limit> limits = {analysis::parse_limit("sectors_per_request=4", true).value()};
    const std::string report = broken_limits(analysis::check(profile, limits).broken, {});
    EXPECT_TRUE(report.starts_with("/src/copy.cu:7: limit broken: sectors_per_request is 18, more than 4\n"));
}

}  // namespace
}  // namespace lanescope::report
