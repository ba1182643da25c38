#include <gmock/gmock.h>

#include "experiment/import/formats.h"

namespace rubato::experiment {
namespace {

using testing::HasSubstr;

struct Bad {
  const char* format;
  const char* name;
  const char* text;
  const char* complaint;
};

class BadFile : public testing::TestWithParam<Bad> {};

TEST_P(BadFile, IsNamedWithFileAndLine) {
  const Bad& bad = GetParam();
  const std::vector<ForeignFile> files = {{bad.name, bad.text}};
  const auto table = import_files(bad.format, files, {.gpu = "X", .workload = {}, .gpu_count = {}});
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(table.error().what, HasSubstr(bad.complaint));
}

constexpr const char* kPerseus = "p.csv";
constexpr const char* kOptimizer = "V100+bert+gpu0.csv";

INSTANTIATE_TEST_SUITE_P(
    All, BadFile,
    testing::Values(
        Bad{"perseus", kPerseus, "", "p.csv: there is no header line"},
        Bad{"perseus", kPerseus, "stage,instruction,frequency,time,energy\n", "p.csv: there is no row"},
        Bad{"perseus", kPerseus, "stage,instruction,frequency,time\n0,f,1410,1\n",
            "p.csv, line 1: column energy is missing"},
        Bad{"perseus", kPerseus, "stage,instruction,frequency,time,energy,time\n0,f,1410,1,2,1\n",
            "line 1: column time stands there twice"},
        Bad{"perseus", kPerseus, "stage,instruction,frequency,time,energy\n0,f,1410,1\n",
            "line 2: it has 4 cells; the header has 5"},
        Bad{"perseus", kPerseus, "stage,instruction,frequency,time,energy\n0,f,1410,nan,2\n",
            "line 2: column time: 'nan'"},
        Bad{"perseus", kPerseus, "stage,instruction,frequency,time,energy\n\n0,f,1410,-1,2\n",
            "line 3: column time: '-1' must be above zero"},
        Bad{"perseus", kPerseus, "stage,instruction,frequency,time,energy\n0,f,1410000,1,2\n",
            "line 2: column frequency: '1410000' is no clock in MHz"},
        Bad{"perseus", kPerseus, "stage,instruction,frequency,time,energy\n0,f,1410,1,2\n0,f,1410,1,2\n",
            "p.csv, line 3: workload 'p/stage0/f' stands at this setting already: p.csv, line 2"},
        Bad{"perseus", kPerseus, "stage,instruction,frequency,time,energy\n,f,1410,1,2\n",
            "line 2: column stage: '' is empty"},
        Bad{"perseus", kPerseus, "stage,instruction,frequency,time,energy\n0,f,1.41,1,2\n",
            "line 2: column frequency: '1.41' is no clock in MHz"},
        Bad{"zeus-power", "summary_power_v100.csv",
            "dataset,network,batch_size,optimizer,power_limit,time_per_epoch,average_power\n"
            "a,b,1,adam,250000,10,200\n",
            "line 2: a power limit of 250000 W is no GPU's"},
        Bad{"zeus-optimizer", kOptimizer,
            "start_time,window_name,elapsed_time,gpu0_energy\n1,epoch_3,10,200\n",
            "line 2: window 'epoch_3' is not named __GlobalPowerLimitOptimizer_WATTS"},
        Bad{"zeus-monitor", "m.csv", "start_time,window_name,elapsed_time\n1,epoch,10\n",
            "m.csv, line 1: no column gpuN_energy"},
        Bad{"zeus-profile", "p.json", "{\n\"measurements\": [", "p.json, line 2: no JSON"},
        Bad{"zeus-profile", "p.json", "{\"measure\": []}", "p.json, line 1: no list \"measurements\""},
        Bad{"zeus-profile", "p.json",
            "{\"measurements\": [\n{\"power_limit\": 250, \"energy\": 1, \"time\": 1},\n"
            "{\"power_limit\": 225, \"energy\": null, \"time\": 1}]}",
            "p.json, line 3: energy is null"},
        Bad{"zeus-optimiser", "x", "", "there is no format 'zeus-optimiser'"}));

TEST(Import, AFileThatDoesNotSayItsGpuIsRefusedWithTheOptionThatHelps) {
  const std::vector<ForeignFile> files = {
      {"bert.csv", "start_time,window_name,elapsed_time,gpu0_energy\n1,epoch_100,10,200\n"}};
  const auto table = import_files("zeus-monitor", files);
  ASSERT_FALSE(table);
  EXPECT_THAT(table.error().hint, HasSubstr("--gpu-name"));
}

TEST(Import, AWishThatAFormatCannotGrantIsRefused) {
  const std::vector<ForeignFile> windows = {
      {"bert.csv", "start_time,window_name,elapsed_time,gpu0_energy\n1,epoch_100,10,200\n"}};
  const auto counted = import_files("zeus-monitor", windows, {.gpu = "A40", .workload = {}, .gpu_count = 4});
  ASSERT_FALSE(counted);
  EXPECT_THAT(counted.error().what, HasSubstr("--gpu-count is for zeus-profile"));
  const auto named = import_files("zeus-power", windows, {.gpu = "A40", .workload = "bert", .gpu_count = {}});
  ASSERT_FALSE(named);
  EXPECT_THAT(named.error().what, HasSubstr("--workload"));
}

TEST(Import, OneBadFileOfSeveralLeavesNothing) {
  const std::vector<ForeignFile> files = {
      {"m+A40.csv", "stage,instruction,frequency,time,energy\n0,forward,1410,0.05,25\n"},
      {"n+A40.csv", "stage,instruction,frequency,time,energy\n0,forward,1410,0.05,zero\n"}};
  const auto table = import_files("perseus", files);
  ASSERT_FALSE(table);
  EXPECT_THAT(table.error().what, HasSubstr("n+A40.csv, line 2"));
}

}  // namespace
}  // namespace rubato::experiment
