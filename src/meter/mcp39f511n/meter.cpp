#include "meter/mcp39f511n/meter.h"

#include <array>

#include "base/text.h"
#include "meter/energy_register.h"
#include "meter/keys.h"
#include "meter/mcp39f511n/packet.h"
#include "meter/mcp39f511n/port.h"
#include "meter/mcp39f511n/registers.h"
#include "meter/mcp39f511n/unit_check.h"

namespace rubato::meter::mcp39f511n {
namespace {

constexpr std::uint32_t kSignBit = 0x80000000U;

struct Plan {
  std::string device;  // "/dev/ttyACM0"
  std::array<Scope, kChannels> scopes{Scope::rail, Scope::rail};
  std::array<std::string, kChannels> labels;
};

MeterChannel make_channel(const Plan& plan, std::size_t i) {
  MeterChannel channel{
      .name = cat("channel-", i + 1), .scope = plan.scopes[i], .has_energy = true, .has_power = true};
  channel.place = plan.labels[i].empty() ? cat("mains channel ", i + 1, " of the meter at ", plan.device)
                                         : plan.labels[i];
  channel.sensor = {
      .update_period = kPeriod,
      .averaging_window = kPeriod,
      .counter_period = kPeriod,
      .calibration_band = kAccuracy,
      .source = "Microchip MCP39F511N data sheet: class 0.5 %; its rate and registers not verified here"};
  return channel;
}

class McpMeter final : public Meter {
 public:
  McpMeter(std::string name, Plan plan, Port port, const Surroundings& around)
      : name_(std::move(name)),
        plan_(std::move(plan)),
        root_(around.root),
        clock_(around.clock),
        port_(std::move(port)) {
    for (std::size_t i = 0; i < kChannels; ++i) {
      channels_.push_back(make_channel(plan_, i));
      energies_.emplace_back(cat(name_, ", ", channels_[i].name),
                             RegisterUnwrap(kEnergyUnit.value(), std::nullopt, kMostWatts));
    }
  }

  const std::string& name() const override { return name_; }
  const std::vector<MeterChannel>& channels() const override { return channels_; }
  Seconds period() const override { return kPeriod; }
  std::optional<Error> complaint() const override { return complaint_; }
  CallCost cost() const override { return cost_; }

  Result<std::vector<MeterReading>> read() override {
    complaint_.reset();
    if (!port_) {
      auto again = Port::open(root_, plan_.device);
      if (!again) return fail(std::move(again.error()));
      port_ = std::move(*again);
    }
    std::vector<MeterReading> readings;
    auto powers = ask(kPowerAddress, kChannels * kPowerBytes);
    if (!powers) return fail(std::move(powers.error()));
    for (std::size_t i = 0; i < kChannels; ++i) readings.push_back(with_power(i, *powers));
    if (auto energies = ask(kEnergyAddress, kChannels * kEnergyBytes))
      add_energies(*energies, readings);
    else
      complain(std::move(energies.error()));
    std::erase_if(readings, [](const MeterReading& r) { return !r.power && !r.energy; });
    if (readings.empty() && complaint_) return fail(*complaint_);
    return readings;
  }

 private:
  struct Answer {
    std::vector<std::uint8_t> data;
    TimePoint at;
  };

  Result<Answer> ask(std::uint16_t address, std::size_t count) {
    const TimePoint begin = clock_->now();
    if (!port_) return fail(ErrorCode::device_lost, cat(name_, ": the port closed"), "replug the meter");
    auto data = port_->read_registers(address, count);
    const Seconds took = clock_->now() - begin;
    ++cost_.calls;
    cost_.inside += took;
    if (data) return Answer{std::move(*data), begin + took / 2};
    if (data.error().code == ErrorCode::device_lost) port_.reset();
    return fail(std::move(data.error()));
  }

  MeterReading with_power(std::size_t i, const Answer& answer) {
    MeterReading reading{.channel = i, .at = answer.at};
    const auto raw = static_cast<std::uint32_t>(little_endian(answer.data, i * kPowerBytes, kPowerBytes));
    if ((raw & kSignBit) != 0) {
      complain({ErrorCode::corrupt,
                cat(name_, ", ", channels_[i].name, ": power 0x", hex(raw, 8), " is less than nothing"),
                "the reading is left out; a clamp turned round or a machine that feeds back does this"});
      return reading;
    }
    const Watts power = static_cast<double>(raw) * kPowerUnit;
    if (auto possible = possible_power(cat(name_, ", ", channels_[i].name), power); possible)
      reading.power = power;
    else
      complain(std::move(possible.error()));
    return reading;
  }

  /// Readings get their energy once the register's unit has been seen to be right.
  void add_energies(const Answer& answer, std::vector<MeterReading>& readings) {
    std::uint64_t moved = 0;
    std::optional<Watts> drawn = Watts(0);
    std::array<EnergyRegister::Told, kChannels> told;
    for (std::size_t i = 0; i < kChannels; ++i) {
      const std::uint64_t count = little_endian(answer.data, i * kEnergyBytes, kEnergyBytes);
      if (before_[i] && count >= *before_[i]) moved += count - *before_[i];
      before_[i] = count;
      told[i] = energies_[i].add(count, answer.at);
      if (told[i].trouble) complain(*told[i].trouble);
      if (!readings[i].power) drawn.reset();
      if (drawn) *drawn += *readings[i].power;
    }
    if (drawn) unit_.add(answer.at, *drawn, moved);
    if (unit_.verdict() == UnitVerdict::refuted) complain(wrong_unit());
    if (unit_.verdict() != UnitVerdict::confirmed) return;
    for (std::size_t i = 0; i < kChannels; ++i) readings[i].energy = told[i].energy;
  }

  Error wrong_unit() const {
    const auto seen = unit_.seen_per_count();
    const std::string found = seen ? cat("moves once per ", *seen) : std::string("does not move");
    return {
        ErrorCode::not_supported,
        cat(name_, ": the energy register ", found, " of measured power, needed once per ", kEnergyUnit),
        seen ? "power alone is used; please report the figure"
             : "power alone is used; switch energy accumulation on with Microchip's Power Monitor program"};
  }

  void complain(Error error) {
    if (!complaint_) complaint_ = std::move(error);
  }

  std::string name_;
  Plan plan_;
  FsRoot root_;
  std::shared_ptr<const Clock> clock_;
  std::optional<Port> port_;
  std::vector<MeterChannel> channels_;
  std::vector<EnergyRegister> energies_;
  std::array<std::optional<std::uint64_t>, kChannels> before_;
  UnitCheck unit_{kEnergyUnit};
  std::optional<Error> complaint_;
  CallCost cost_;
};

Result<Plan> plan_by_table(std::string_view name, const Surroundings& around) {
  const auto table = table_for("mcp39f511n", name, around);
  if (!table) return fail(table.error());
  const Keys keys(**table);
  if (auto known = keys.only({"port", "scope_1", "scope_2", "label_1", "label_2"}); !known)
    return fail(std::move(known.error()));
  Plan plan{.device = keys.text("port", "")};
  for (std::size_t i = 0; i < kChannels; ++i) {
    const auto scope = keys.scope_or(cat("scope_", i + 1), Scope::rail);
    if (!scope) return fail(scope.error());
    plan.scopes[i] = *scope;
    plan.labels[i] = keys.text(cat("label_", i + 1), "");
  }
  return plan;
}

Result<Plan> make_plan(std::string_view argument, const Surroundings& around) {
  Plan plan;
  if (argument.starts_with('/')) {
    plan.device = argument;
  } else if (argument.starts_with("tty")) {
    plan.device = cat("/dev/", argument);
  } else if (!argument.empty()) {
    auto configured = plan_by_table(argument, around);
    if (!configured) return fail(std::move(configured.error()));
    plan = std::move(*configured);
  }
  if (!plan.device.empty()) return plan;
  const auto ports = find_ports(around.root);
  if (ports.empty())
    return fail(ErrorCode::not_found,
                cat("mcp39f511n: no serial port with the USB ids ", kVendor, ":", kProduct),
                "plug the meter in, or name its port: --meter mcp39f511n:/dev/ttyACM0");
  if (ports.size() > 1) {
    std::string names;
    for (const std::string& port : ports) names += cat(names.empty() ? "" : ", ", port);
    return fail(ErrorCode::invalid_argument, cat("mcp39f511n: which of ", names, "?"),
                cat("--meter mcp39f511n:", ports.front()));
  }
  plan.device = ports.front();
  return plan;
}

Result<std::unique_ptr<Meter>> open(std::string_view argument, const Surroundings& around) {
  auto plan = make_plan(argument, around);
  if (!plan) return fail(std::move(plan.error()));
  auto port = Port::open(around.root, plan->device);
  if (!port) return fail(std::move(port.error()));
  // Whoever answers this question in full speaks the protocol; the USB ids alone are those of a common
  // bridge.
  if (auto first = port->read_registers(kPowerAddress, kChannels * kPowerBytes); !first)
    return fail(std::move(first.error()));
  const std::string name = argument.empty() ? "mcp39f511n" : cat("mcp39f511n:", argument);
  return std::make_unique<McpMeter>(name, std::move(*plan), std::move(*port), around);
}

std::vector<FoundMeter> find(const Surroundings& around) {
  std::vector<FoundMeter> found;
  for (const std::string& port : find_ports(around.root)) {
    FoundMeter meter{
        .spec = cat("mcp39f511n:", port), .what = "mains power of two channels", .usable = Capability::yes()};
    if (::access(around.root.path(port).c_str(), R_OK | W_OK) != 0)
      meter.usable = Capability::forbidden(cat(port, " may not be opened by this user"),
                                           "sudo usermod --append --groups dialout $USER, then log in again");
    found.push_back(std::move(meter));
  }
  return found;
}

}  // namespace

const MeterKind& kind() {
  static constexpr MeterKind kKind{"mcp39f511n", "[PORT|NAME]",
                                   "mains power of two channels by a Microchip MCP39F511N", &open, &find};
  return kKind;
}

}  // namespace rubato::meter::mcp39f511n
