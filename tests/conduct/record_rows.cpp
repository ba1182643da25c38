#include <sstream>

#include "conduct/virtual_run.h"

namespace rubato::conduct {
namespace {

class Rows {
 public:
  Rows() { out_ << std::hexfloat; }
  template <class... T>
  void row(const T&... fields) {
    (field(fields), ...);
    out_ << '\n';
  }
  [[nodiscard]] std::string text() const { return out_.str(); }

 private:
  template <class T>
  void field(const T& value) {
    if constexpr (requires { value.has_value(); }) {
      if (value)
        field(*value);
      else
        out_ << "-|";
    } else if constexpr (std::is_same_v<T, TimePoint>) {
      out_ << value.ns << '|';
    } else if constexpr (std::is_same_v<T, Setting>) {
      out_ << describe(value) << '|';
    } else if constexpr (std::is_same_v<T, GpuId>) {
      out_ << value.uuid << '|';
    } else if constexpr (std::is_same_v<T, EnergyWindow>) {
      out_ << value.energy.value() << '|' << value.band_sampling.value() << '|'
           << value.band_calibration.value() << '|';
    } else if constexpr (std::is_enum_v<T>) {
      out_ << static_cast<int>(value) << '|';
    } else if constexpr (requires { value.value(); }) {
      out_ << value.value() << '|';
    } else {
      out_ << value << '|';
    }
  }
  std::ostringstream out_;
};

}  // namespace

std::string rows_of(const record::RunRecord& run) {
  Rows rows;
  for (const auto& device : run.devices) {
    for (const auto& r : device.fast) rows.row("fast", r.at, r.power, r.energy_counter);
    for (const auto& r : device.slow)
      rows.row("slow", r.at, r.sm_clock, r.memory_clock, r.sm_utilisation, r.temperature, r.requested_limit,
               r.enforced_limit);
    for (const auto& e : device.counter_edges) rows.row("edge", e.at, e.counter, e.reset);
  }
  for (const auto& i : run.iterations) rows.row("iteration", i.index, i.begin, i.end);
  for (const auto& b : run.blocks)
    rows.row("block", b.role, b.gpu, b.setting, b.begin, b.end, b.iterations, b.energy);
  for (const auto& c : run.setting_changes)
    rows.row("change", c.at, c.gpu, c.who, c.asked, c.requested, c.enforced, c.reached_sm_clock, c.outcome);
  for (const auto& d : run.decisions) rows.row("decision", d.at, d.action, d.setting, d.why);
  for (const auto& g : run.gaps) rows.row("gap", g.begin, g.end, g.gpu, g.why);
  if (run.end) {
    rows.row("end", run.end->end, run.end->exit_code, run.end->cost.ticks, run.end->cost.driver.calls);
    for (const auto& d : run.end->devices)
      rows.row("device", d.gpu, d.energy, d.found, d.requested, d.restoration, d.restoration_detail);
  }
  return rows.text();
}

}  // namespace rubato::conduct
