// Tens of thousands of settings at the price of hundreds: curves are smooth, so they are asked on a mesh of
// the knobs and drawn between its nodes.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "predict/prediction.h"

namespace rubato::predict::physical {

class Mesh {
 public:
  /// At least this many settings are worth a mesh.
  static constexpr std::size_t kWorth = 3000;

  /// Spans what is asked; a knob that some points leave alone stands at `highest` there.
  Mesh(std::span<const KnobPoint> at, const KnobPoint& highest);

  [[nodiscard]] const std::vector<KnobPoint>& nodes() const { return nodes_; }
  /// `on_nodes` answers nodes(), in their order. Linear between them: off by about a thousandth.
  [[nodiscard]] Prediction drawn(const Prediction& on_nodes) const;

 private:
  struct Axis {
    bool used = false;          // some point sets this knob
    double highest = 0;         // where the others stand
    std::vector<double> nodes;  // ascending
  };

  /// The nodes on either side of a value, and what each counts.
  struct Position;
  [[nodiscard]] static Position position(const Axis& axis, std::optional<double> value);

  std::span<const KnobPoint> at_;
  std::array<Axis, 3> axes_;
  std::vector<KnobPoint> nodes_;
};

}  // namespace rubato::predict::physical
