#include "predict/remembered.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace rubato::predict {
namespace {

class Shared final : public Model {
 public:
  explicit Shared(std::shared_ptr<const Model> model) : model_(std::move(model)) {}
  Result<Prediction> predict(const Known& known, std::span<const KnobPoint> at) const override {
    return model_->predict(known, at);
  }
  nlohmann::json state() const override { return model_->state(); }

 private:
  std::shared_ptr<const Model> model_;
};

/// Everything that a learner is given, as bytes.
class Key {
 public:
  Key(std::span<const Curve> curves, std::span<const Knob> knobs) {
    for (const Knob knob : knobs) add(name_of(knob));
    for (const Curve& curve : curves) add(curve);
  }
  [[nodiscard]] std::string take() && { return std::move(bytes_); }

 private:
  void add(std::string_view text) { bytes_.append(text).push_back('\n'); }
  void add(double value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  template <class Unit>
  void add(const std::optional<Unit>& value) {
    bytes_.push_back(value ? '+' : '-');
    if (value) add(value->value());
  }
  void add(const KnobPoint& at) {
    add(at.power_limit);
    add(at.sm_clock);
    add(at.memory_clock);
  }
  void add(const Observed& row) {
    add(row.at);
    add(row.time.value());
    add(row.energy.value());
    add(static_cast<double>(row.repeats));
    for (const auto& error : {row.time_error, row.energy_error}) {
      bytes_.push_back(error ? '+' : '-');
      if (error) add(*error);
    }
  }
  void add(const Curve& curve) {
    add(curve.known.gpu);
    add(curve.workload);
    add(curve.group);
    add(curve.known.at_default);
    add(curve.known.highest);
    for (const auto& [name, value] : curve.known.features) {
      add(name);
      add(value);
    }
    for (const Observed& row : curve.rows) add(row);
    bytes_.push_back('\n');
  }

  std::string bytes_;
};

}  // namespace

Result<std::unique_ptr<Model>> Remembered::learn(std::span<const Curve> curves,
                                                 std::span<const Knob> knobs) const {
  std::string key = Key(curves, knobs).take();
  std::promise<Learnt> promise;
  std::shared_future<Learnt> learnt;
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    const auto [place, fresh] = models_.try_emplace(std::move(key));
    first = fresh;
    if (first) place->second = promise.get_future().share();
    learnt = place->second;
  }
  if (first) {
    auto model = learner_.learn(curves, knobs);
    if (model)
      promise.set_value(std::shared_ptr<const Model>(std::move(*model)));
    else
      promise.set_value(fail(model.error()));
  }
  const Learnt& found = learnt.get();
  if (!found) return fail(found.error());
  return std::make_unique<Shared>(*found);
}

}  // namespace rubato::predict
