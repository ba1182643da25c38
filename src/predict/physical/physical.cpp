#include "predict/physical/physical.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "predict/physical/coarse.h"
#include "predict/physical/learn.h"
#include "predict/physical/state.h"
#include "predict/physical/widening.h"

namespace rubato::predict::physical {
namespace {

class PhysicalModel final : public Model {
 public:
  explicit PhysicalModel(Learned learned) : learned_(std::move(learned)) {}

  [[nodiscard]] Result<Prediction> predict(const Known& known, std::span<const KnobPoint> at) const override {
    if (at.size() < Mesh::kWorth) return exact(known, at);
    const Mesh mesh(at, known.highest);
    auto on_nodes = exact(known, mesh.nodes());
    if (!on_nodes) return on_nodes;
    Prediction out = mesh.drawn(*on_nodes);
    pin_default(known, out);
    return out;
  }

  [[nodiscard]] nlohmann::json state() const override { return to_json(learned_); }

 private:
  [[nodiscard]] Result<Prediction> exact(const Known& known, std::span<const KnobPoint> at) const {
    std::vector<Observed> rows = {known.at_default};
    rows.insert(rows.end(), known.probes.begin(), known.probes.end());
    auto measured = measured_of(known, rows);
    if (!measured) return fail(measured.error());
    auto wanted = asked(known, at);
    if (!wanted) return fail(wanted.error());
    const Learned::Expectation expected = learned_.expected(known);
    set_noise(*measured, rows, expected.noise);
    Answer a = answer(learned_, expected.belief, *measured, *wanted);
    const auto& wider = learned_.widening[std::min(known.probes.size(), learned_.widening.size() - 1)];
    Prediction out{.at = {at.begin(), at.end()},
                   .log_time = std::move(a.log_time),
                   .log_energy = std::move(a.log_energy),
                   .time_factor = wider[0] * a.time_factor,
                   .energy_factor = wider[1] * a.energy_factor,
                   .time_own = wider[0] * a.time_own,
                   .energy_own = wider[1] * a.energy_own,
                   .measurement_noise = {}};
    pin_default(known, out);
    const auto noise = row_noise(learned_, expected.noise);
    out.measurement_noise = {wider[0] * noise[0], wider[1] * noise[1]};
    return out;
  }

  /// A mean of several rows is less noisy, but what a run shares with none is not averaged away below a
  /// quarter.
  void set_noise(Measured& measured, const std::vector<Observed>& rows, double noise) const {
    const auto n = static_cast<Eigen::Index>(rows.size());
    for (Eigen::Index i = 0; i < n; ++i) {
      const Observed& row = rows[static_cast<std::size_t>(i)];
      const double shrink = std::max(0.25, 1.0 / std::max(1U, row.repeats));
      const double time = row.time_error.value_or(0);
      const double energy = row.energy_error.value_or(0);
      measured.noise[i] = std::max(learned_.noise[0] * noise * shrink, time * time);
      measured.noise[n + i] = std::max(learned_.noise[1] * noise * shrink, time * time + energy * energy);
    }
  }

  /// Ratios are to what was measured there: it is 1 over itself.
  static void pin_default(const Known& known, Prediction& out) {
    for (std::size_t i = 0; i < out.at.size(); ++i) {
      if (out.at[i] != known.at_default.at) continue;
      const auto row = static_cast<Eigen::Index>(i);
      out.log_time[row] = out.log_energy[row] = out.time_own[row] = out.energy_own[row] = 0;
      out.time_factor.row(row).setZero();
      out.energy_factor.row(row).setZero();
    }
  }

  Learned learned_;
};

class PhysicalLearner final : public Learner {
 public:
  [[nodiscard]] std::string_view name() const override { return "physical"; }

  [[nodiscard]] Result<std::unique_ptr<Model>> learn(std::span<const Curve> curves,
                                                     std::span<const Knob> /*knobs*/) const override {
    auto learned = learn_population(curves);
    if (!learned) return fail(learned.error());
    return std::make_unique<PhysicalModel>(std::move(*learned));
  }

  [[nodiscard]] Result<std::unique_ptr<Model>> read(const nlohmann::json& state) const override {
    auto learned = from_json(state);
    if (!learned) return fail(learned.error());
    return std::make_unique<PhysicalModel>(std::move(*learned));
  }
};

}  // namespace

const Learner& physical_learner() {
  static const PhysicalLearner learner;
  return learner;
}

}  // namespace rubato::predict::physical
