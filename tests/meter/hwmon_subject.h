// A hwmon tree of an INA226 rail, an INA3221 rail, an energy counter and the four ACPI power meters of a
// Grace socket.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/text.h"
#include "meter/hwmon/meter.h"
#include "meter/subject.h"
#include "meter/tree.h"

namespace rubato::meter::testing {

class HwmonSubject final : public Subject {
 public:
  HwmonSubject() {
    tree.write("/sys/class/hwmon/hwmon0/name", "ina226\n");
    tree.write("/sys/class/hwmon/hwmon0/update_interval", "20\n");
    tree.write("/sys/class/hwmon/hwmon1/name", "xe\n");
    tree.write("/sys/class/hwmon/hwmon1/energy1_label", "card\n");
    tree.write("/sys/class/hwmon/hwmon2/name", "ina3221\n");
    tree.write("/sys/class/hwmon/hwmon2/in2_label", "VDD_CPU\n");
    tree.write("/sys/class/hwmon/hwmon2/in2_input", "20000\n");
    tree.write("/sys/class/hwmon/hwmon9/name", "coretemp\n");
    tree.write("/sys/class/hwmon/hwmon9/temp1_input", "40000\n");
    int meter = 3;
    for (const char* const label :
         {"Module Power Socket 0", "Grace Power Socket 0", "CPU Power Socket 0", "SysIO Power Socket 0"}) {
      const std::string device = cat("/sys/devices/ACPI000D:0", meter - 3);
      tree.write(cat(device, "/power1_oem_info"), cat(label, "\n"));
      tree.write(cat(device, "/power1_average_interval"), "50\n");
      tree.write(cat("/sys/class/hwmon/hwmon", meter, "/name"), "power_meter\n");
      tree.link(cat("/sys/class/hwmon/hwmon", meter, "/device"), tree.path(device));
      ++meter;
    }
    show(Watts(100));
  }

  Result<std::unique_ptr<Meter>> open() override { return hwmon::kind().open("", around()); }
  std::shared_ptr<const Clock> clock() const override { return clock_; }
  void advance(Seconds span, Watts power) override {
    clock_->advance(span);
    energy_ += power * span;
    show(power);
  }
  std::set<Fault> faults() const override {
    return {Fault::garbage,      Fault::half_packet, Fault::negative_power, Fault::absurd_power,
            Fault::counter_fell, Fault::jump,        Fault::vanished};
  }
  void break_it(Fault fault) override {
    clock_->advance(Seconds(1));
    if (fault == Fault::jump) energy_ += Joules(1e9);
    if (fault == Fault::counter_fell) energy_ = Joules(0);
    show(Watts(100));
    if (fault == Fault::negative_power) show(Watts(-1));
    if (fault == Fault::absurd_power) show(Watts(2e6));
    for (const std::string& file : files()) {
      if (fault == Fault::garbage) tree.write(file, "not a number\n");
      if (fault == Fault::half_packet) tree.write(file, "-");
      if (fault == Fault::vanished) tree.remove(file);
    }
  }
  void mend() override { show(Watts(100)); }

  [[nodiscard]] Surroundings around() const { return {.clock = clock_, .root = tree.root()}; }

  Tree tree;

 private:
  static std::vector<std::string> files() {
    std::vector<std::string> all{"/sys/class/hwmon/hwmon0/power1_input",
                                 "/sys/class/hwmon/hwmon1/energy1_input",
                                 "/sys/class/hwmon/hwmon2/curr2_input"};
    for (const int i : {0, 1, 2, 3}) all.push_back(cat("/sys/devices/ACPI000D:0", i, "/power1_average"));
    return all;
  }
  void show(Watts power) {
    const auto microwatts = std::llround(power.value() * 1e6);
    tree.write(files()[0], cat(microwatts, "\n"));
    tree.write(files()[1], cat(std::llround(energy_.value() * 1e6), "\n"));
    tree.write(files()[2], cat(std::llround(power.value() / 20 * 1e3), "\n"));  // mA at 20 V
    for (std::size_t i = 3; i < files().size(); ++i) tree.write(files()[i], cat(microwatts, "\n"));
  }

  std::shared_ptr<VirtualClock> clock_ = std::make_shared<VirtualClock>();
  Joules energy_{1000};
};

}  // namespace rubato::meter::testing
