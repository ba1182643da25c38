#include "meter/hwmon/meter.h"

#include <algorithm>

#include "base/text.h"
#include "meter/energy_register.h"
#include "meter/hwmon/channels.h"
#include "meter/hwmon/chips.h"
#include "meter/number_file.h"

namespace rubato::meter::hwmon {
namespace {

constexpr Seconds kShortestPeriod{0.1};
constexpr std::string_view kLeftOut =
    "the channel is left out until it answers again; --meter hwmon:CHIP/power1 picks others";

Error with_remedy(Error error) {
  if (error.hint.empty() && error.code == ErrorCode::no_permission)
    error.hint = "sudo chmod a+r on that file, or: sudo rubato … --as-root";
  if (error.hint.empty()) error.hint = kLeftOut;
  return error;
}

/// One channel with what must be remembered between readings.
class Channel {
 public:
  Channel(const ChannelFiles& files, std::string who)
      : quantity_(files.quantity),
        who_(std::move(who)),
        energy_(who_, RegisterUnwrap(1e-6, std::nullopt, kMostWatts)) {}

  struct Told {
    std::optional<Watts> power;
    std::optional<Joules> energy;
    std::optional<Error> trouble;
  };

  Told read(const Clock& clock) {
    if (quantity_.energy.empty()) return read_power();
    const auto count = read_whole(quantity_.energy);
    if (!count) return {.trouble = with_remedy(count.error())};
    if (*count < 0)
      return {.trouble = Error{ErrorCode::corrupt, cat(who_, ": found ", *count, " uJ, less than nothing"),
                               std::string(kLeftOut)}};
    const auto told = energy_.add(static_cast<std::uint64_t>(*count), clock.now());
    return {.energy = told.energy, .trouble = told.trouble};
  }

 private:
  Told read_power() {
    Result<double> watts = 0.0;
    if (quantity_.power.empty()) {
      const auto millivolts = read_whole(quantity_.voltage);
      const auto milliamperes = read_whole(quantity_.current);
      if (!millivolts) return {.trouble = with_remedy(millivolts.error())};
      if (!milliamperes) return {.trouble = with_remedy(milliamperes.error())};
      watts = static_cast<double>(*millivolts) * 1e-3 * static_cast<double>(*milliamperes) * 1e-3;
    } else {
      const auto microwatts = read_whole(quantity_.power);
      if (!microwatts) return {.trouble = with_remedy(microwatts.error())};
      watts = static_cast<double>(*microwatts) * 1e-6;
    }
    if (auto possible = possible_power(who_, Watts(*watts)); !possible) return {.trouble = possible.error()};
    return {.power = Watts(*watts)};
  }

  Quantity quantity_;
  std::string who_;
  EnergyRegister energy_;
};

class HwmonMeter final : public Meter {
 public:
  HwmonMeter(std::string name, const std::vector<ChannelFiles>& chosen, std::shared_ptr<const Clock> clock)
      : name_(std::move(name)), clock_(std::move(clock)) {
    Seconds fastest = Seconds(1e9);
    for (const ChannelFiles& files : chosen) {
      channels_.push_back(files.channel);
      read_.emplace_back(files, cat("hwmon, ", files.channel.name));
      fastest = std::min(fastest, std::max(files.update_interval.value_or(kShortestPeriod), kShortestPeriod));
    }
    period_ = fastest;
  }

  const std::string& name() const override { return name_; }
  const std::vector<MeterChannel>& channels() const override { return channels_; }
  Seconds period() const override { return period_; }
  std::optional<Error> complaint() const override { return complaint_; }
  CallCost cost() const override { return cost_; }

  Result<std::vector<MeterReading>> read() override {
    complaint_.reset();
    std::vector<MeterReading> readings;
    for (std::size_t i = 0; i < read_.size(); ++i) {
      const TimePoint begin = clock_->now();
      const Channel::Told told = read_[i].read(*clock_);
      const Seconds took = clock_->now() - begin;
      ++cost_.calls;
      cost_.inside += took;
      if (told.trouble && !complaint_) complaint_ = told.trouble;
      if (told.power || told.energy)
        readings.push_back(
            {.channel = i, .at = begin + took / 2, .power = told.power, .energy = told.energy});
    }
    if (readings.empty() && complaint_) return fail(*complaint_);
    return readings;
  }

 private:
  std::string name_;
  std::shared_ptr<const Clock> clock_;
  std::vector<MeterChannel> channels_;
  std::vector<Channel> read_;
  Seconds period_;
  std::optional<Error> complaint_;
  CallCost cost_;
};

Result<std::unique_ptr<Meter>> open(std::string_view argument, const Surroundings& around) {
  auto chosen = choose_channels(find_chips(around.root), argument);
  if (!chosen) return fail(std::move(chosen.error()));
  if (chosen->empty())
    return fail(
        ErrorCode::not_found,
        cat("hwmon: no chip in ", around.root.path("/sys/class/hwmon").string(), " tells power or energy"),
        "rubato doctor  (lists the meters of this machine; NVIDIA GPUs are read through their driver)");
  const std::string name = argument.empty() ? "hwmon" : cat("hwmon:", argument);
  return std::make_unique<HwmonMeter>(name, *chosen, around.clock);
}

std::vector<FoundMeter> find(const Surroundings& around) {
  std::vector<FoundMeter> found;
  const auto chosen = choose_channels(find_chips(around.root), {});
  if (!chosen) return found;
  for (const ChannelFiles& files : *chosen) {
    const Quantity& q = files.quantity;
    const auto& file = !q.energy.empty() ? q.energy : !q.power.empty() ? q.power : q.current;
    FoundMeter meter{.spec = cat("hwmon:", files.channel.name),
                     .what = cat(files.channel.has_energy ? "energy" : "power", " of ", files.channel.place),
                     .usable = Capability::yes()};
    if (auto first = read_whole(file); !first) {
      const Error error = with_remedy(std::move(first.error()));
      meter.usable = error.code == ErrorCode::no_permission ? Capability::forbidden(error.what, error.hint)
                                                            : Capability::no(error.what, error.hint);
    }
    found.push_back(std::move(meter));
  }
  return found;
}

}  // namespace

const MeterKind& kind() {
  static constexpr MeterKind kKind{"hwmon", "[CHIP[/power1],…]",
                                   "supply rails, ACPI power meters and energy counters in /sys/class/hwmon",
                                   &open, &find};
  return kKind;
}

}  // namespace rubato::meter::hwmon
