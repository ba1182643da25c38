// A powercap tree of two sockets whose registers run as fast as the test says.
#pragma once

#include <cstdint>
#include <map>

#include "base/text.h"
#include "meter/rapl/meter.h"
#include "meter/subject.h"
#include "meter/tree.h"

namespace rubato::meter::testing {

inline constexpr std::uint64_t kRaplTop = 262'143'328'850;  // as a Xeon shows it, uJ

class RaplSubject final : public Subject {
 public:
  RaplSubject() {
    for (const int socket : {0, 1}) {
      add(cat("intel-rapl:", socket), cat("package-", socket));
      add(cat("intel-rapl:", socket, ":0"), "dram");
      add(cat("intel-rapl:", socket, ":1"), "core");
    }
  }

  void add(const std::string& entry, const std::string& name) {
    const std::string folder = cat("/sys/class/powercap/", entry);
    tree.write(cat(folder, "/name"), name + "\n");
    tree.write(cat(folder, "/max_energy_range_uj"), cat(kRaplTop, "\n"));
    counts_[folder] = 1'000'000;
    show();
  }

  Result<std::unique_ptr<Meter>> open() override { return rapl::kind().open("", around()); }
  std::shared_ptr<const Clock> clock() const override { return clock_; }
  void advance(Seconds span, Watts power) override {
    clock_->advance(span);
    for (auto& [folder, count] : counts_)
      count = (count + static_cast<std::uint64_t>((power * span).value() * 1e6)) % kRaplTop;
    show();
  }
  std::set<Fault> faults() const override {
    return {Fault::garbage, Fault::half_packet,  Fault::negative_power,
            Fault::jump,    Fault::counter_fell, Fault::vanished};
  }
  void break_it(Fault fault) override {
    clock_->advance(Seconds(1));
    if (fault == Fault::jump)
      for (auto& [folder, count] : counts_) count = kRaplTop - 1000;
    if (fault == Fault::counter_fell)
      for (auto& [folder, count] : counts_) count = 0;
    show();
    for (const auto& [folder, count] : counts_) {
      const std::string file = folder + "/energy_uj";
      if (fault == Fault::garbage) tree.write(file, "\x01\xff garbage");
      if (fault == Fault::half_packet) tree.write(file, "");
      if (fault == Fault::negative_power) tree.write(file, "-5\n");
      if (fault == Fault::vanished) tree.remove(file);
    }
  }
  void mend() override { show(); }
  Joules energy_step() const override { return Joules(0.001); }

  [[nodiscard]] Surroundings around() const { return {.clock = clock_, .root = tree.root()}; }
  /// What the register of a zone shows, in uJ.
  [[nodiscard]] std::uint64_t& count(const std::string& entry) {
    return counts_.at("/sys/class/powercap/" + entry);
  }
  void show() {
    for (const auto& [folder, count] : counts_) tree.write(folder + "/energy_uj", cat(count, "\n"));
  }

  Tree tree;

 private:
  std::shared_ptr<VirtualClock> clock_ = std::make_shared<VirtualClock>();
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace rubato::meter::testing
