#include "meter/rapl/meter.h"

#include "base/text.h"
#include "meter/energy_register.h"
#include "meter/number_file.h"
#include "meter/rapl/zones.h"

namespace rubato::meter::rapl {
namespace {

// The registers move every millisecond, but a reading interrupts a core of the socket, and a sum misses
// nothing.
constexpr Seconds kPeriod{0.1};
// Twice what the hungriest package, memory bank or platform of one socket can draw. A register of 262 kJ is
// then safe for 131 s.
constexpr Watts kMost{2000};

/// The kernel lets only root read since CVE-2020-8694.
Error with_remedy(Error error, const std::string& file) {
  if (error.code == ErrorCode::no_permission)
    error.hint = cat(
        "sudo chgrp $(id -gn) ", file, " && sudo chmod g+r ", file,
        "  (until the next boot; docs/meters.md has the udev rule that stays), or: sudo rubato … --as-root");
  else if (error.hint.empty())
    error.hint = "rubato doctor  (lists the meters of this machine)";
  return error;
}

class RaplMeter final : public Meter {
 public:
  RaplMeter(std::string name, std::vector<Zone> zones, std::shared_ptr<const Clock> clock)
      : name_(std::move(name)), clock_(std::move(clock)) {
    for (Zone& zone : zones) {
      const std::string who = cat("rapl, ", zone.channel.name, " (", zone.energy_file.string(), ")");
      registers_.push_back({zone.energy_file, EnergyRegister(who, RegisterUnwrap(1e-6, zone.top, kMost))});
      channels_.push_back(std::move(zone.channel));
    }
  }

  const std::string& name() const override { return name_; }
  const std::vector<MeterChannel>& channels() const override { return channels_; }
  Seconds period() const override { return kPeriod; }
  std::optional<Error> complaint() const override { return complaint_; }
  CallCost cost() const override { return cost_; }

  Result<std::vector<MeterReading>> read() override {
    complaint_.reset();
    std::vector<MeterReading> readings;
    for (std::size_t i = 0; i < registers_.size(); ++i) {
      const TimePoint begin = clock_->now();
      auto count = read_whole(registers_[i].file);
      const TimePoint end = clock_->now();
      ++cost_.calls;
      cost_.inside += end - begin;
      if (!count) {
        complain(with_remedy(std::move(count.error()), registers_[i].file.string()));
        continue;
      }
      if (*count < 0) {
        complain({ErrorCode::corrupt,
                  cat(registers_[i].file.string(), " holds ", *count, " uJ, less than nothing"),
                  "the reading is left out; update the kernel if this goes on"});
        continue;
      }
      const TimePoint at = begin + (end - begin) / 2;
      auto told = registers_[i].energy.add(static_cast<std::uint64_t>(*count), at);
      if (told.trouble) complain(std::move(*told.trouble));
      if (told.energy) readings.push_back({.channel = i, .at = at, .energy = told.energy});
    }
    if (readings.empty() && complaint_) return fail(*complaint_);
    return readings;
  }

 private:
  struct Register {
    std::filesystem::path file;
    EnergyRegister energy;
  };

  void complain(Error error) {
    if (!complaint_) complaint_ = std::move(error);
  }

  std::string name_;
  std::shared_ptr<const Clock> clock_;
  std::vector<MeterChannel> channels_;
  std::vector<Register> registers_;
  std::optional<Error> complaint_;
  CallCost cost_;
};

Result<std::unique_ptr<Meter>> open(std::string_view argument, const Surroundings& around) {
  auto zones = find_zones(around.root);
  if (zones.empty())
    return fail(ErrorCode::not_found,
                cat("rapl: no energy domain in ", around.root.path("/sys/class/powercap").string()),
                "virtual machines hide it; on a real machine: sudo modprobe intel_rapl_msr");
  auto chosen = choose_zones(std::move(zones), argument);
  if (!chosen) return fail(std::move(chosen.error()));
  if (chosen->empty())
    return fail(ErrorCode::not_found, "rapl: this machine has no package, dram or psys domain",
                "--meter rapl:all");
  for (const Zone& zone : *chosen)
    if (auto first = read_whole(zone.energy_file); !first && first.error().code == ErrorCode::no_permission)
      return fail(with_remedy(std::move(first.error()), zone.energy_file.string()));
  const std::string name = argument.empty() ? "rapl" : cat("rapl:", argument);
  return std::make_unique<RaplMeter>(name, std::move(*chosen), around.clock);
}

std::vector<FoundMeter> find(const Surroundings& around) {
  const auto chosen = choose_zones(find_zones(around.root), {});
  if (!chosen || chosen->empty()) return {};
  std::string names;
  for (const Zone& zone : *chosen) names += cat(names.empty() ? "" : ", ", zone.channel.name);
  FoundMeter found{.spec = "rapl", .what = cat("energy of ", names), .usable = Capability::yes()};
  const auto& file = chosen->front().energy_file;
  if (auto first = read_whole(file); !first) {
    const Error error = with_remedy(std::move(first.error()), file.string());
    found.usable = error.code == ErrorCode::no_permission ? Capability::forbidden(error.what, error.hint)
                                                          : Capability::no(error.what, error.hint);
  }
  return {found};
}

}  // namespace

const MeterKind& kind() {
  static constexpr MeterKind kKind{
      "rapl", "[DOMAIN,…]", "energy of CPU packages, memory and platform, counted by the CPU", &open, &find};
  return kKind;
}

}  // namespace rubato::meter::rapl
