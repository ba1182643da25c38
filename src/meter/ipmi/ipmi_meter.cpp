#include "meter/ipmi/ipmi_meter.h"

#include <chrono>

#include "base/text.h"
#include "meter/energy_register.h"

namespace rubato::meter::ipmi {
namespace {

constexpr Seconds kPatience{1.8};        // below kReadPatience
constexpr Seconds kPatienceAtOpen{6.0};  // login and reading of a slow controller
constexpr double kWattsPerCount = 1;     // DCMI tells whole watts

/// What the patient thread does: keeps a session, opens another where it broke.
class Asker {
 public:
  explicit Asker(Login login) : login_(std::move(login)) {}
  Result<DcmiReading> operator()() {
    if (!controller_) {
      auto opened = Controller::open(login_);
      if (!opened) return fail(opened.error());
      controller_ = std::make_shared<Controller>(std::move(*opened));
    }
    auto reading = controller_->read_power();
    if (!reading) controller_.reset();
    return reading;
  }

 private:
  Login login_;
  std::shared_ptr<Controller> controller_;
};

}  // namespace

IpmiMeter::IpmiMeter(std::string name, const Target& target, std::shared_ptr<const Clock> clock)
    : name_(std::move(name)),
      controller_(target.login.name()),
      period_(target.period),
      clock_(std::move(clock)),
      patient_(Asker(target.login)) {
  MeterChannel channel;
  channel.name = "machine";
  channel.scope = target.scope;
  channel.place = target.place;
  channel.has_power = true;
  channel.sensor.calibration_band = target.accuracy;
  channels_.push_back(std::move(channel));
}

Result<std::unique_ptr<Meter>> IpmiMeter::open(std::string name, const Target& target,
                                               std::shared_ptr<const Clock> clock) {
  std::unique_ptr<IpmiMeter> meter(new IpmiMeter(std::move(name), target, std::move(clock)));
  auto first = meter->ask(kPatienceAtOpen);
  if (!first) return fail(first.error());
  SensorFacts& sensor = meter->channels_.front().sensor;
  sensor.source =
      cat("DCMI Get Power Reading in steps of ", Watts(kWattsPerCount),
          "; the controller keeps its statistics over ", first->statistics_period,
          ", the averaging of the present value is not told",
          target.accuracy_stated ? "; accuracy as meters.toml states it" : "; accuracy is not told");
  return meter;
}

Result<DcmiReading> IpmiMeter::ask(Seconds at_most) {
  const auto before = std::chrono::steady_clock::now();
  auto answer = patient_.call(at_most);
  ++cost_.calls;
  cost_.inside += Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count());
  if (answer) return std::move(*answer);
  return fail(ErrorCode::timeout,
              cat("the management controller ", controller_, " did not finish within ", at_most),
              "check that IPMI over LAN is on and UDP reaches it: ipmi-ping HOST");
}

Result<std::vector<MeterReading>> IpmiMeter::read() {
  const TimePoint before = clock_->now();
  auto told = ask(kPatience);
  const TimePoint after = clock_->now();
  if (!told) return fail(told.error());
  if (auto possible = possible_power(cat("management controller ", controller_), told->current); !possible)
    return fail(possible.error());
  MeterReading reading;
  reading.at = before + (after - before) / 2;
  reading.power = told->current;
  return std::vector{reading};
}

}  // namespace rubato::meter::ipmi
