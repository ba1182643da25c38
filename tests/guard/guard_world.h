// A folder, a clock and fake GPUs; guards are made in it, die in it, and are asked things by message.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "guard/fake_gpu.h"
#include "guard/guard.h"
#include "guard/stale.h"
#include "wire/message.h"

namespace rubato::guard::fake {

inline const GpuId kGpu{"GPU-a"};
inline const GpuId kOther{"GPU-b"};

class World {
 public:
  World() {
    static int made = 0;
    folder = std::filesystem::path(::testing::TempDir()) /
             ("rubato-guard-" + std::to_string(::getpid()) + "-" + std::to_string(made++));
    std::filesystem::remove_all(folder);
    set_boot_id("boot-1");
    gpus[kGpu];
    gpus[kOther];
  }
  ~World() {
    std::filesystem::remove_all(folder);
    std::filesystem::remove_all(root_path());
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void set_boot_id(const std::string& id) const {
    std::filesystem::create_directories(root_path() / "proc/sys/kernel/random");
    std::ofstream(root_path() / "proc/sys/kernel/random/boot_id") << id << "\n";
  }

  GpuFactory factory() {
    return [this](const GpuId& id) -> Result<OpenedGpu> {
      const auto it = gpus.find(id);
      if (it == gpus.end()) return fail(ErrorCode::not_found, id.uuid + " is not present");
      return OpenedGpu{std::make_unique<Gpu>(id, it->second, *steps),
                       std::make_unique<Control>(it->second, *steps)};
    };
  }
  GuardOptions options() {
    return {.open = factory(),
            .folder = folder,
            .root = FsRoot(root_path()),
            .driver_version = driver_version,
            .clock = clock,
            .files = std::make_shared<Files>(steps)};
  }
  Result<std::vector<RestorationReport>> restore_left_behind() {
    return restore_stale(
        {folder, factory(), FsRoot(root_path()), driver_version, std::make_shared<Files>(steps)});
  }
  /// The world's next process: no step is counted, no fault is set.
  void revive() { *steps = Steps{}; }

  [[nodiscard]] std::filesystem::path journal(const GpuId& gpu = kGpu) const { return folder / gpu.uuid; }
  [[nodiscard]] std::string journal_bytes(const GpuId& gpu = kGpu) const {
    std::ifstream in(journal(gpu), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write_journal(const std::string& bytes, const GpuId& gpu = kGpu) const {
    std::ofstream(journal(gpu), std::ios::binary) << bytes;
    std::filesystem::permissions(journal(gpu), std::filesystem::perms(0600));
  }
  State& gpu() { return gpus[kGpu]; }

  std::filesystem::path folder;
  std::map<GpuId, State> gpus;
  std::shared_ptr<Steps> steps = std::make_shared<Steps>();
  std::shared_ptr<VirtualClock> clock = std::make_shared<VirtualClock>();
  std::string driver_version = "550.1";

 private:
  [[nodiscard]] std::filesystem::path root_path() const { return folder.string() + "-root"; }
};

/// One request and its reply, through the codec.
inline wire::Body ask(Guard& guard, const wire::Body& request, TimePoint now = {}) {
  const std::string reply = guard.handle(wire::encode({1, request}), now);
  return wire::decode(reply).value().body;
}

inline const wire::Acquire kBothKnobs{{kGpu}, {Knob::power_limit, Knob::sm_clock}, {}};
inline const wire::Acquire kAllKnobs{
    {kGpu}, {Knob::power_limit, Knob::sm_clock, Knob::application_clocks}, {}};
inline wire::Apply application_at(double memory_mhz, double sm_mhz) {
  return {kGpu, Setting{.application_clocks = ApplicationClocks{Megahertz(memory_mhz), Megahertz(sm_mhz)}}};
}
inline wire::Apply limit_to(double watts) {
  return {kGpu, Setting{.power_limit = Watts(watts)}};
}
inline wire::Apply sm_at(double mhz) {
  return {kGpu, Setting{.sm_clock = ClockRange{Megahertz(mhz), Megahertz(mhz)}}};
}
inline wire::Apply both(double watts, double mhz) {
  return {kGpu, Setting{.power_limit = Watts(watts), .sm_clock = ClockRange{Megahertz(mhz), Megahertz(mhz)}}};
}

inline ErrorCode refusal(const wire::Body& reply) {
  const auto* refused = std::get_if<wire::Refused>(&reply);
  EXPECT_NE(refused, nullptr) << "the guard did not refuse";
  return refused == nullptr ? ErrorCode::internal : refused->error.code;
}
inline RestorationReport only_report(const wire::Body& reply) {
  const auto* restored = std::get_if<wire::Restored>(&reply);
  EXPECT_NE(restored, nullptr) << "the guard did not restore";
  return restored == nullptr || restored->reports.empty() ? RestorationReport{} : restored->reports.front();
}

}  // namespace rubato::guard::fake
