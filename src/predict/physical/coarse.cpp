#include "predict/physical/coarse.h"

#include <algorithm>
#include <cmath>

namespace rubato::predict::physical {
namespace {

// Power limit, SM clock, memory clock: ratios of about 1.13 between nodes over the ranges that GPUs have.
constexpr std::array<std::size_t, 3> kNodes = {8, 10, 5};

std::array<std::optional<double>, 3> values_of(const KnobPoint& p) {
  std::array<std::optional<double>, 3> out;
  if (p.power_limit) out[0] = p.power_limit->value();
  if (p.sm_clock) out[1] = p.sm_clock->value();
  if (p.memory_clock) out[2] = p.memory_clock->value();
  return out;
}

Eigen::Index index(std::size_t i) {
  return static_cast<Eigen::Index>(i);
}

}  // namespace

struct Mesh::Position {
  struct End {
    Eigen::Index node;
    double weight;
  };
  std::array<End, 2> ends;
};

Mesh::Position Mesh::position(const Axis& axis, std::optional<double> value) {
  if (axis.nodes.size() == 1) return {{{{0, 1.0}, {0, 0.0}}}};
  const double here = value.value_or(axis.highest);
  std::size_t below = 0;
  while (below + 2 < axis.nodes.size() && axis.nodes[below + 1] <= here) ++below;
  const double part = (here - axis.nodes[below]) / (axis.nodes[below + 1] - axis.nodes[below]);
  return {{{{index(below), 1 - part}, {index(below + 1), part}}}};
}

Mesh::Mesh(std::span<const KnobPoint> at, const KnobPoint& highest) : at_(at) {
  std::array<double, 3> low{};
  std::array<double, 3> high{};
  const auto top = values_of(highest);
  for (std::size_t k = 0; k < 3; ++k) axes_[k].highest = top[k].value_or(0);
  for (const KnobPoint& p : at) {
    const auto values = values_of(p);
    for (std::size_t k = 0; k < 3; ++k) {
      const bool first = high[k] == 0;
      const double value = values[k].value_or(axes_[k].highest);
      axes_[k].used = axes_[k].used || values[k].has_value();
      low[k] = first ? value : std::min(low[k], value);
      high[k] = std::max(high[k], value);
    }
  }
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t count = low[k] > 0 && high[k] > low[k] ? kNodes[k] : 1;
    for (std::size_t i = 0; i + 1 < count; ++i)
      axes_[k].nodes.push_back(
          low[k] * std::pow(high[k] / low[k], static_cast<double>(i) / static_cast<double>(count - 1)));
    axes_[k].nodes.push_back(high[k]);
  }
  for (const double limit : axes_[0].nodes) {
    for (const double sm : axes_[1].nodes) {
      for (const double memory : axes_[2].nodes) {
        KnobPoint node;
        if (axes_[0].used) node.power_limit = Watts(limit);
        if (axes_[1].used) node.sm_clock = Megahertz(sm);
        if (axes_[2].used) node.memory_clock = Megahertz(memory);
        nodes_.push_back(node);
      }
    }
  }
}

Prediction Mesh::drawn(const Prediction& on_nodes) const {
  const auto count = static_cast<Eigen::Index>(nodes_.size());
  const Eigen::Index rank = on_nodes.time_factor.cols();
  // Row by row, so that one node's figures lie together.
  using Figures = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Figures figures(count, 4 + 2 * rank);
  figures << on_nodes.log_time, on_nodes.log_energy, on_nodes.time_own, on_nodes.energy_own,
      on_nodes.time_factor, on_nodes.energy_factor;
  const auto n = static_cast<Eigen::Index>(at_.size());
  Prediction out{.at = {at_.begin(), at_.end()},
                 .log_time = Eigen::VectorXd(n),
                 .log_energy = Eigen::VectorXd(n),
                 .time_factor = Eigen::MatrixXd(n, rank),
                 .energy_factor = Eigen::MatrixXd(n, rank),
                 .time_own = Eigen::VectorXd(n),
                 .energy_own = Eigen::VectorXd(n),
                 .measurement_noise = on_nodes.measurement_noise};
  // Along the memory clock at one limit and SM clock: settings usually come in such lines.
  const auto along = static_cast<Eigen::Index>(axes_[2].nodes.size());
  Figures line(along, figures.cols());
  std::array<std::optional<double>, 3> last;
  Eigen::RowVectorXd row(figures.cols());
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto values = values_of(at_[static_cast<std::size_t>(i)]);
    if (i == 0 || values[0] != last[0] || values[1] != last[1]) {
      const Position limit = position(axes_[0], values[0]);
      const Position sm = position(axes_[1], values[1]);
      line.setZero();
      for (const auto& [limit_node, limit_weight] : limit.ends)
        for (const auto& [sm_node, sm_weight] : sm.ends)
          if (limit_weight * sm_weight != 0)
            line += limit_weight * sm_weight *
                    figures.middleRows((limit_node * index(axes_[1].nodes.size()) + sm_node) * along, along);
      last = values;
    }
    const Position memory = position(axes_[2], values[2]);
    row.setZero();
    for (const auto& [node, weight] : memory.ends) row += weight * line.row(node);
    out.log_time[i] = row[0];
    out.log_energy[i] = row[1];
    out.time_own[i] = row[2];
    out.energy_own[i] = row[3];
    out.time_factor.row(i) = row.segment(4, rank);
    out.energy_factor.row(i) = row.tail(rank);
  }
  return out;
}

}  // namespace rubato::predict::physical
