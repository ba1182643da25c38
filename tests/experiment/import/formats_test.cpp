#include "experiment/import/formats.h"

#include <gmock/gmock.h>

namespace rubato::experiment {
namespace {

using testing::Contains;
using testing::HasSubstr;

Result<SweepTable> import_one(std::string_view format, std::string name, std::string text,
                              const ImportWishes& wishes = {}) {
  const std::vector<ForeignFile> files = {{std::move(name), std::move(text)}};
  return import_files(format, files, wishes);
}

TEST(ZeusPower, MultipliesPowerAndTimeAndTakesTheGpuFromTheFileName) {
  const auto table =
      import_one("zeus-power", "folder/summary_power_v100.csv",
                 "dataset,network,batch_size,optimizer,power_limit,time_per_epoch,average_power\n"
                 "cifar100,resnet50,64,adam,250,10,200\ncifar100,resnet50,64,adam,150,12,140\n");
  ASSERT_TRUE(table) << table.error().what;
  ASSERT_EQ(table->rows.size(), 2U);
  const SweepRow& row = table->rows[1];
  EXPECT_EQ(row.gpu, "V100");
  EXPECT_EQ(row.workload, "cifar100/resnet50/b64/adam");
  EXPECT_EQ(row.group, "cifar100/resnet50");
  EXPECT_EQ(row.power_limit, 150_W);
  EXPECT_EQ(row.energy, 1680_J);
  EXPECT_FALSE(row.sm_clock || row.memory_clock || row.is_default);
}

TEST(ZeusOptimizer, TakesTheMeanOfTheGpusAndTheLimitFromTheWindow) {
  const auto table = import_one("zeus-optimizer", "A40+resnet50+gpu0,1.csv",
                                "start_time,window_name,elapsed_time,gpu0_energy,gpu1_energy\n"
                                "1.5,__GlobalPowerLimitOptimizer_300,10,2000,1000\n"
                                "2.5,__GlobalPowerLimitOptimizer_275,10,1900,900\n");
  ASSERT_TRUE(table) << table.error().what;
  EXPECT_EQ(table->rows[1].gpu, "A40");
  EXPECT_EQ(table->rows[1].workload, "resnet50/2gpus");
  EXPECT_EQ(table->rows[1].group, "resnet50");
  EXPECT_EQ(table->rows[1].power_limit, 275_W);
  EXPECT_EQ(table->rows[1].energy, 1400_J);
  EXPECT_EQ(table->rows[1].power, 140_W);
  EXPECT_THAT(table->comments, Contains(HasSubstr("mean of 2 GPUs")));
}

TEST(ZeusMonitor, WindowsOfOneNameAreRepeatsAndAWindowWithoutALimitIsTheDefault) {
  const auto table = import_one("zeus-monitor", "log.csv",
                                "start_time,window_name,elapsed_time,gpu0_energy\n"
                                "1,epoch,10,2000\n2,epoch,12,2200\n3,epoch_150W,13,1800\n",
                                {.gpu = "V100", .workload = {}, .gpu_count = {}});
  ASSERT_TRUE(table) << table.error().what;
  ASSERT_EQ(table->rows.size(), 2U);
  EXPECT_EQ(table->rows[0].workload, "epoch");
  EXPECT_EQ(table->rows[0].time, 11_s);
  EXPECT_EQ(table->rows[0].energy, 2100_J);
  EXPECT_FALSE(table->rows[0].power_limit);
  EXPECT_EQ(table->rows[1].power_limit, 150_W);
}

TEST(ZeusProfile, DividesTheEnergyByTheGpusItAddsUp) {
  const auto table = import_one("zeus-profile", "plo.json",
                                R"({"measurements": [{"power_limit": 250, "energy": 4000.0, "time": 8.0},
                                    {"power_limit": 225, "energy": 3600.0, "time": 8.5}]})",
                                {.gpu = "V100", .workload = "resnet", .gpu_count = 4});
  ASSERT_TRUE(table) << table.error().what;
  EXPECT_EQ(table->rows[0].workload, "resnet");
  EXPECT_EQ(table->rows[0].energy, 1000_J);
  EXPECT_EQ(table->rows[0].power, 125_W);
}

TEST(Perseus, IsAWorkloadPerStageAndInstruction) {
  const auto table = import_one(
      "perseus", "gpt3-175b+a100_sxm_bf16.csv",
      "stage,instruction,frequency,time,energy\n0,forward,1410,0.05,25\n0,forward,1395,0.051,24\n");
  ASSERT_TRUE(table) << table.error().what;
  EXPECT_EQ(table->rows[0].gpu, "A100 SXM");
  EXPECT_EQ(table->rows[0].workload, "gpt3-175b/stage0/forward");
  EXPECT_EQ(table->rows[0].group, "gpt3-175b/forward");
  EXPECT_EQ(table->rows[1].sm_clock, 1395_MHz);
}

TEST(RubatoSweep, TablesAreJoinedWithTheCountersThatAllHave) {
  const std::string head =
      "# "
      "made\ngpu,workload,group,power_limit_w,sm_clock_mhz,memory_clock_mhz,time_s,power_w,energy_j,default";
  const ForeignFile one{"one.csv", head +
                                       ",feature_dram_active,feature_sm_active\nV100,a,a,150,,,11,100,1100,0,"
                                       ".4,.9\nV100,a,a,250,,,10,200,2000,1,.5,.9\n"};
  const ForeignFile two{"two.csv", head + ",feature_dram_active\nV100,b,b,250,,,10,200,2000,1,.5\n"};
  const auto table = import_files("rubato-sweep", std::vector{one, two});
  ASSERT_TRUE(table) << table.error().what;
  ASSERT_EQ(table->rows.size(), 3U);
  EXPECT_EQ(table->rows[2].workload, "b");
  for (const SweepRow& row : table->rows) EXPECT_EQ(row.features.size(), 1U);
  EXPECT_EQ(table->comments.back(), "left out, as some rows lack them: sm_active");
  const auto twice = import_files("rubato-sweep", std::vector{two, two});
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().what.find("stands at this setting already"), std::string::npos);
  const auto named = import_files("rubato-sweep", std::vector{two}, {.workload = "other"});
  ASSERT_TRUE(named);
  EXPECT_EQ(named->rows[0].group, "other");
}

TEST(Import, SeveralFilesBecomeOneTable) {
  const std::string text =
      "start_time,window_name,elapsed_time,gpu0_energy\n"
      "1,__GlobalPowerLimitOptimizer_300,10,2000\n";
  const std::vector<ForeignFile> files = {{"A40+bert+gpu0.csv", text}, {"V100+bert+gpu0.csv", text}};
  const auto table = import_files("zeus-optimizer", files);
  ASSERT_TRUE(table) << table.error().what;
  EXPECT_EQ(table->rows.size(), 2U);
}

}  // namespace
}  // namespace rubato::experiment
