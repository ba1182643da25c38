// A fake MCP39F511N behind a fake /dev/ttyACM0 whose registers follow the load.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "base/text.h"
#include "meter/fake_mcp.h"
#include "meter/mcp39f511n/meter.h"
#include "meter/subject.h"
#include "meter/tree.h"

namespace rubato::meter::testing {

class McpSubject final : public Subject {
 public:
  McpSubject() { plug_in(); }

  void plug_in() {
    fake = std::make_unique<FakeMcp>();
    tree.link("/dev/ttyACM0", fake->device());
    tree.write("/sys/class/tty/ttyACM0/device/interface", "meter\n");
    tree.write("/sys/class/tty/ttyACM0/idVendor", "04d8\n");
    tree.write("/sys/class/tty/ttyACM0/idProduct", "00dd\n");
    show(Watts(0));
  }

  Result<std::unique_ptr<Meter>> open() override { return mcp39f511n::kind().open("", around()); }
  std::shared_ptr<const Clock> clock() const override { return clock_; }
  void advance(Seconds span, Watts power) override {
    clock_->advance(span);
    energy += power * span;
    show(power);
  }
  std::set<Fault> faults() const override {
    return {Fault::silence,      Fault::garbage, Fault::half_packet,  Fault::negative_power,
            Fault::absurd_power, Fault::jump,    Fault::counter_fell, Fault::vanished};
  }
  void break_it(Fault fault) override {
    clock_->advance(Seconds(1));
    if (fault == Fault::silence) fake->answer(Answering::silently);
    if (fault == Fault::garbage) fake->answer(Answering::garbage);
    if (fault == Fault::half_packet) fake->answer(Answering::half);
    if (fault == Fault::jump) energy += Joules(1e9);
    if (fault == Fault::counter_fell) energy = Joules(0);
    show(Watts(100));
    if (fault == Fault::negative_power) show_power(0xffffff9c);
    if (fault == Fault::absurd_power) show_power(200'000'000);  // 2 MW
    if (fault == Fault::vanished) {
      fake.reset();
      tree.remove("/sys/class/tty/ttyACM0");
    }
  }
  void mend() override {
    if (!fake) plug_in();
    fake->answer(Answering::well);
    show(Watts(100));
  }
  Watts power_step() const override { return Watts(0.01); }
  Joules energy_step() const override { return Joules(joules_per_count); }

  [[nodiscard]] Surroundings around() const { return {.clock = clock_, .root = tree.root()}; }
  void show_power(std::uint32_t raw) const {
    for (const std::uint16_t address : std::array<std::uint16_t, 2>{0x16, 0x1a}) fake->set(address, raw, 4);
  }

  Tree tree;
  std::unique_ptr<FakeMcp> fake;
  Joules energy{1e6};
  double joules_per_count = 3.6;  // 1 mWh

 private:
  void show(Watts power) {
    show_power(static_cast<std::uint32_t>(std::lround(power.value() * 100)));
    const auto count = static_cast<std::uint64_t>(energy.value() / joules_per_count);
    for (const std::uint16_t address : std::array<std::uint16_t, 2>{0x2e, 0x36}) fake->set(address, count, 8);
  }

  std::shared_ptr<VirtualClock> clock_ = std::make_shared<VirtualClock>();
};

}  // namespace rubato::meter::testing
