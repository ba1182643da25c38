// Every curve of the measured tables can be replayed; on its rows the GPU gives what was measured.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "core/sweep_table_csv.h"
#include "core/sweep_workloads.h"
#include "device/replay/world.h"

namespace rubato::device::replay {
namespace {

void set_row(ReplayWorld& world, const SweepRow& row, bool limit, bool sm, bool memory) {
  if (limit) {
    EXPECT_TRUE(world.set_power_limit(0, *row.power_limit, {}));
  }
  if (sm) {
    EXPECT_TRUE(world.lock_sm_clock(0, {*row.sm_clock, *row.sm_clock}, {}));
  }
  if (memory) {
    EXPECT_TRUE(world.lock_memory_clock(0, {*row.memory_clock, *row.memory_clock}, {}));
  }
}

TEST(MeasuredTables, ReplayEveryRowAsItWasMeasured) {
  const char* data = std::getenv("RUBATO_TEST_DATA");
  const std::filesystem::path folder = std::filesystem::path(data == nullptr ? "" : data) / "tables";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no measured tables at " << folder;
  struct Knobs {
    const char* file;
    bool limit, sm, memory;
  };
  for (const auto& [file, limit, sm, memory] :
       {Knobs{"v100-power-limit-training.csv", true, false, false},
        {"a100sxm-sm-clock-pipeline-stages.csv", false, true, false},
        {"gtx1080ti-sm-and-memory-clock-kernels.csv", false, true, true},
        {"a100pcie-power-limit-and-sm-clock.csv", true, true, false}}) {
    const auto table = read_sweep_table(folder / file);
    ASSERT_TRUE(table) << table.error().what;
    const auto workloads = workloads_of(*table);
    ASSERT_TRUE(workloads) << workloads.error().what;
    for (const SweepWorkload& workload : *workloads) {
      const auto source = select(*table, workload.workload, std::nullopt, file);
      ASSERT_TRUE(source) << source.error().what;
      const auto world = ReplayWorld::create_private(std::span(&*source, 1));
      ASSERT_TRUE(world) << world.error().what;
      for (const std::size_t i : workload.rows) {
        const SweepRow& row = table->rows[i];
        set_row(**world, row, limit, sm, memory);
        const auto context = (*world)->add_context(0, 1, {});
        ASSERT_TRUE((*world)->submit(0, *context, 1.0, {}));
        EXPECT_EQ((*world)->read(0, {})->kind, Kind::replayed);
        EXPECT_NEAR(((*world)->completion(0, *context, 0, {})->since_epoch() / row.time), 1.0, 1e-5);
        EXPECT_NEAR(*(*world)->read(0, {})->power / row.power, 1.0, 2e-5) << file << " " << row.workload;
        ASSERT_TRUE((*world)->remove_context(0, *context, {}));
      }
    }
  }
}

}  // namespace
}  // namespace rubato::device::replay
