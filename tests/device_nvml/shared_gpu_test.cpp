// GPUs that are not one job's alone: measured whole, never set.
#include "device_nvml/fake_driver.h"

namespace rubato::device::nvml::fake {
namespace {

using testing::HasSubstr;

class SharedGpu : public Driver2023 {
 protected:
  void expect_measure_only(const char* reason) const {
    for (const Capability* set :
         {&can().set_power_limit, &can().set_sm_clock, &can().set_application_clocks}) {
      EXPECT_FALSE(set->available);
      EXPECT_THAT(set->why_not, HasSubstr(reason));
      EXPECT_FALSE(set->needs_right) << "no right helps here";
    }
    EXPECT_EQ(fast().power, 101_W);
  }
  [[nodiscard]] std::vector<std::int64_t> pids() const {
    const auto processes = gpu_->compute_processes();
    EXPECT_TRUE(processes) << processes.error().what;
    std::vector<std::int64_t> pids;
    for (const auto& process : processes.value_or(std::vector<ComputeProcess>{})) pids.push_back(process.pid);
    return pids;
  }
};

TEST_F(SharedGpu, WithMigOnItIsMeasuredWhole) {
  state_->mig = 1;
  open();
  expect_measure_only("MIG is on");
  EXPECT_THAT(can().set_power_limit.hint, HasSubstr("nvidia-smi -mig 0"));
}

TEST_F(SharedGpu, AVgpuPointsAtItsHost) {
  state_->virtualization = abi::kVirtualizationVgpu;
  open();
  expect_measure_only("vGPU");
}

TEST_F(SharedGpu, AHostOfVgpusLeavesItsGuestsAlone) {
  state_->virtualization = abi::kVirtualizationHostVgpu;
  open();
  expect_measure_only("virtual machines");
}

TEST_F(SharedGpu, PassthroughIsAWholeGpu) {
  state_->virtualization = 1;
  open();
  EXPECT_TRUE(can().set_power_limit.available) << can().set_power_limit.why_not;
}

TEST_F(SharedGpu, ClientsOfAMultiProcessServerAreListedOnceEachWithoutTheServer) {
  write("proc/100/comm", "nvidia-cuda-mps\n");
  state_->compute_pids[0] = 100;
  state_->compute_pids[1] = 201;
  state_->mps_pids[0] = 201;
  state_->mps_pids[1] = 202;
  open();
  EXPECT_THAT(pids(), testing::ElementsAre(201, 202));
}

TEST_F(SharedGpu, AMultiProcessServerWhoseClientsAreUnknownIsListedItself) {
  write("proc/100/comm", "nvidia-cuda-mps\n");
  state_->compute_pids[0] = 100;
  open();
  EXPECT_THAT(pids(), testing::ElementsAre(100));
}

TEST_F(SharedGpu, AProcessBesideTheClientsThatCannotBeSeenStays) {
  state_->compute_pids[0] = 100;
  state_->mps_pids[0] = 201;
  open();
  EXPECT_THAT(pids(), testing::ElementsAre(100, 201));
}

}  // namespace
}  // namespace rubato::device::nvml::fake
