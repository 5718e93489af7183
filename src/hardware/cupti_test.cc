#include "hardware/cupti.h"

#include <gtest/gtest.h>

#include "hardware/hardware.h"
#include "hardware/metrics.h"

namespace lanescope::hardware {
namespace {

// The host half needs the library, not a GPU.
class Host : public testing::Test {
protected:
    void SetUp() override {
        auto loaded = Cupti::load();
        if (!loaded) GTEST_SKIP() << base::to_string(loaded.errors());
        cupti = std::make_unique<Cupti>(*loaded);
        auto chips = cupti->chips();
        if (std::find(chips.begin(), chips.end(), "GH100") == chips.end()) GTEST_SKIP() << "this CUPTI doesn't know GH100";
    }
    std::unique_ptr<Cupti> cupti;
};

TEST_F(Host, KnowsWhichMetricsAChipHas) {
    std::vector<std::string> names{"dram__bytes_read.sum", "dram__bytes_op_read.sum", "no__such_metric.sum", "smsp__inst_executed.sum"};
    EXPECT_EQ(cupti->supported("GH100", names), (std::vector<bool>{true, false, false, true}));
}

TEST_F(Host, PlansPasses) {
    std::vector<std::string> one{"smsp__inst_executed.sum"};
    auto small = cupti->plan("GH100", one);
    ASSERT_TRUE(small.ok());
    EXPECT_EQ(small->passes, 1u);
    EXPECT_FALSE(small->config.empty());
    std::vector<std::string> texture{"l1tex__t_requests_pipe_tex.sum"};
    auto several = cupti->plan("GH100", texture);
    ASSERT_TRUE(several.ok());
    EXPECT_GT(several->passes, 1u);  // made of several raw counters
    std::vector<std::string> wrong{"no__such_metric.sum"};
    EXPECT_FALSE(cupti->plan("GH100", wrong).ok());
    EXPECT_FALSE(cupti->plan("GX999", one).ok());
}

TEST_F(Host, CountsTheWholeCatalogueOnAnH200) {
    auto metrics = default_metrics();
    for (bool supported : cupti->supported("GH100", metrics)) EXPECT_TRUE(supported);
}

TEST(Metrics, ReadOnlyWhatMustBeRead) {
    // A quotient follows from its parts; the launch's own numbers and counts by line need no counter.
    EXPECT_EQ(counters_of({"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "launch__grid_size",
                           "memory_l2_theoretical_sectors_global", "smsp__sass_inst_executed_op_global_ld.sum"}),
              (std::vector<std::string>{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"}));
    EXPECT_EQ(names_on_chips("dram__bytes_read.sum"), (std::vector<std::string>{"dram__bytes_read.sum", "dram__bytes_op_read.sum"}));
}

}  // namespace
}  // namespace lanescope::hardware
