#include "emulator/journal.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"

namespace lanescope::emulator {
namespace {

namespace fs = std::filesystem;

class JournalTest : public testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::path(testing::TempDir()) / ("journal_test_" + std::to_string(::getpid()));
        fs::create_directories(folder_);
        header_.backend = "emulated";
        header_.gpu_name = "h200";
        header_.argv = {"./program", "an\nargument"};
        header_.settings = {{"l1", "on"}};
    }
    void TearDown() override { fs::remove_all(folder_); }
    profile::Launch launch(const std::string& kernel) {
        profile::Launch launch;
        launch.kernel = launch.symbol = kernel;
        launch.metrics["launch__grid_size"] = 3;
        launch.lines.push_back({.file = (folder_ / "source.cu").string(), .line = 2});
        return launch;
    }
    std::string journal() const {
        for (const auto& entry : fs::directory_iterator(folder_))
            if (entry.path().extension() == ".journal") return entry.path().string();
        return {};
    }
    fs::path folder_;
    profile::Profile header_;
};

TEST_F(JournalTest, WhatIsWrittenIsRead) {
    ASSERT_TRUE(base::write_file(folder_ / "source.cu", "one\r\ntwo\n"));
    {
        Journal journal(folder_.string(), header_);
        journal.append(launch("first"));
        journal.append(profile::Transfer{.kind = "host_to_device", .memory = "pinned", .bytes = 4096});
        journal.append(profile::Fault{.kind = "misaligned", .message = "line\nbreak", .launch = 0});
        journal.append(launch("second"));
        EXPECT_EQ(journal.take_error(), "");
    }
    auto profile = read_session(folder_.string());
    ASSERT_TRUE(profile) << to_string(profile.errors());
    EXPECT_EQ(profile->gpu_name, "h200");
    EXPECT_THAT(profile->argv, testing::ElementsAre("./program", "an\nargument"));
    EXPECT_EQ(profile->settings.at("l1"), "on");
    ASSERT_EQ(profile->launches.size(), 2u);
    EXPECT_EQ(profile->launches[1].kernel, "second");
    EXPECT_EQ(profile->launches[0].metrics.at("launch__grid_size"), 3);
    ASSERT_EQ(profile->transfers.size(), 1u);
    EXPECT_EQ(profile->transfers[0].bytes, 4096u);
    ASSERT_EQ(profile->faults.size(), 1u);
    EXPECT_EQ(profile->faults[0].message, "line\nbreak");
    EXPECT_THAT(profile->sources.at((folder_ / "source.cu").string()), testing::ElementsAre("one", "two"));
}

TEST_F(JournalTest, RepeatedLaunchesTakeALineOfAFewWords) {
    {
        Journal journal(folder_.string(), header_);
        for (uint64_t i = 0; i < 1000; ++i) {
            profile::Launch each = launch(i % 2 == 0 ? "even" : "odd");
            each.index = i;
            each.start_ns = double(i) * 1.5;
            if (i == 500) each.metrics["launch__grid_size"] = 4;
            journal.append(each);
        }
    }
    EXPECT_LT(fs::file_size(journal()), 40000u);   // "R 999 1498.5 1234" is 18 bytes; a launch some 200
    auto profile = read_session(folder_.string());
    ASSERT_TRUE(profile) << to_string(profile.errors());
    ASSERT_EQ(profile->launches.size(), 1000u);
    for (uint64_t i = 0; i < 1000; ++i) {
        const profile::Launch& each = profile->launches[i];
        EXPECT_EQ(each.index, i);
        EXPECT_EQ(each.start_ns, double(i) * 1.5);
        EXPECT_EQ(each.kernel, i % 2 == 0 ? "even" : "odd");
        EXPECT_EQ(each.metrics.at("launch__grid_size"), i == 500 ? 4 : 3);
        EXPECT_EQ(each.lines.size(), 1u);
    }
}

TEST_F(JournalTest, ALineThatWasCutIsPassedOver) {
    { Journal(folder_.string(), header_).append(launch("whole")); }
    std::ofstream(journal(), std::ios::app) << "L {\"kernel\": \"cu";   // killed in the middle of a write
    auto profile = read_session(folder_.string());
    ASSERT_TRUE(profile) << to_string(profile.errors());
    EXPECT_EQ(profile->launches.size(), 1u);
}

TEST_F(JournalTest, AForkedProcessWritesItsOwn) {
    Journal journal(folder_.string(), header_);
    journal.append(launch("parent"));
    pid_t child = ::fork();
    if (child == 0) {
        journal.append(launch("child"));
        ::_exit(journal.take_error().empty() ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    journal.append(launch("parent again"));
    auto profile = read_session(folder_.string());
    ASSERT_TRUE(profile) << to_string(profile.errors());
    ASSERT_EQ(profile->launches.size(), 3u);
    EXPECT_EQ(profile->launches[0].kernel, "parent");
    EXPECT_EQ(profile->launches[1].kernel, "parent again");
    EXPECT_EQ(profile->launches[2].kernel, "child");
    EXPECT_EQ(profile->launches[2].index, 2u);          // numbered on
}

TEST_F(JournalTest, NothingIsLostSilently) {
    Journal nowhere((folder_ / "missing").string(), header_);
    nowhere.append(launch("lost"));
    EXPECT_THAT(nowhere.take_error(), testing::HasSubstr("cannot write"));
    EXPECT_EQ(nowhere.take_error(), "");                 // said once
    Journal closed("", header_);
    closed.append(launch("unheard"));
    EXPECT_EQ(closed.take_error(), "");
    EXPECT_TRUE(read_session(folder_.string())->launches.empty());
    EXPECT_FALSE(read_session((folder_ / "missing").string()));
}

TEST_F(JournalTest, ADamagedJournalNamesItsLine) {
    { Journal(folder_.string(), header_).append(launch("fine")); }
    for (const char* bad : {"X {}", "L {]", "L", "?"}) {
        std::string path = journal(), good = *base::read_file(path);
        ASSERT_TRUE(base::write_file(path, good + bad + "\n"));
        auto profile = read_session(folder_.string());
        ASSERT_FALSE(profile) << bad;
        EXPECT_EQ(profile.errors()[0].place.file, path);
        EXPECT_EQ(profile.errors()[0].place.line, 3u);
        ASSERT_TRUE(base::write_file(path, good));
    }
    ASSERT_TRUE(base::write_file(journal(), "hello\n"));
    EXPECT_THAT(read_session(folder_.string()).errors()[0].message, testing::HasSubstr("not a"));
}

}  // namespace
}  // namespace lanescope::emulator
