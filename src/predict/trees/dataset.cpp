#include "predict/trees/dataset.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"

namespace rubato::predict::trees {
namespace {

using Eigen::Index;

void deal_folds(Dataset& data, std::span<const Curve> curves, std::size_t most_folds) {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < curves.size(); ++i) groups[curves[i].group].push_back(i);
  if (groups.size() == 1) {
    groups.clear();
    for (std::size_t i = 0; i < curves.size(); ++i)
      groups[cat(curves[i].known.gpu, '/', curves[i].workload)].push_back(i);
  }
  data.groups = groups.size();
  data.folds = std::min(most_folds, groups.size());
  data.fold.resize(curves.size());
  std::size_t next = 0;
  for (const auto& [name, members] : groups) {
    for (const std::size_t curve : members) data.fold[curve] = next % data.folds;
    ++next;
  }
}

}  // namespace

Result<Dataset> dataset_of(std::span<const Curve> curves, const Schema& schema, std::size_t most_folds) {
  if (curves.size() < 2)
    return fail(ErrorCode::invalid_argument,
                cat("boosted trees need at least two workloads to learn from, and there is ", curves.size()));
  Dataset data;
  data.features.columns = schema.names().size();
  std::vector<double> time;
  std::vector<double> energy;
  for (const Curve& curve : curves) {
    std::vector<KnobPoint> at;
    for (const Observed& row : curve.rows) at.push_back(row.at);
    const auto rows = schema.rows(curve.known, at);
    if (!rows) return fail(rows.error());
    data.begin.push_back(time.size());
    data.features.values.insert(data.features.values.end(), rows->values.begin(), rows->values.end());
    data.place.push_back(places_of(curve.known, schema, at));
    const Observed& base = curve.known.at_default;
    for (const Observed& row : curve.rows) {
      time.push_back(std::log(row.time / base.time));
      energy.push_back(std::log(row.energy / base.energy));
      data.is_default.push_back(row.at == base.at);
      data.weight.push_back(1.0F / static_cast<float>(curve.rows.size()));
    }
  }
  data.begin.push_back(time.size());
  data.time = Eigen::Map<Eigen::VectorXd>(time.data(), static_cast<Index>(time.size()));
  data.energy = Eigen::Map<Eigen::VectorXd>(energy.data(), static_cast<Index>(energy.size()));
  const float mean = static_cast<float>(time.size()) / static_cast<float>(curves.size());
  for (float& weight : data.weight) weight *= mean;
  deal_folds(data, curves, most_folds);
  return data;
}

Part part_of(const Dataset& data, const std::function<bool(std::size_t, std::size_t)>& wanted) {
  Part part;
  part.features.columns = data.features.columns;
  for (std::size_t curve = 0; curve < data.curves(); ++curve)
    for (std::size_t row = data.begin[curve]; row < data.begin[curve + 1]; ++row) {
      if (!wanted(row, curve)) continue;
      const float* values = data.features.row(row);
      part.features.values.insert(part.features.values.end(), values, values + data.features.columns);
      part.weight.push_back(data.weight[row]);
      part.rows.push_back(row);
    }
  return part;
}

double mean_error(const Dataset& data, const Eigen::VectorXd& truth, const Eigen::VectorXd& predicted) {
  double sum = 0;
  for (std::size_t curve = 0; curve < data.curves(); ++curve) {
    double own = 0;
    double rows = 0;
    for (std::size_t row = data.begin[curve]; row < data.begin[curve + 1]; ++row) {
      if (data.is_default[row]) continue;
      own += std::abs(truth[static_cast<Index>(row)] - predicted[static_cast<Index>(row)]);
      rows += 1;
    }
    if (rows > 0) sum += own / rows;
  }
  return sum / static_cast<double>(data.curves());
}

std::vector<Residuals> residuals_of(const Dataset& data, const Eigen::VectorXd& time,
                                    const Eigen::VectorXd& energy) {
  std::vector<Residuals> out;
  for (std::size_t curve = 0; curve < data.curves(); ++curve) {
    const auto begin = static_cast<Index>(data.begin[curve]);
    const auto count = static_cast<Index>(data.begin[curve + 1]) - begin;
    out.push_back({data.place[curve], (data.time - time).segment(begin, count),
                   (data.energy - energy).segment(begin, count)});
  }
  return out;
}

std::vector<KnobPoint> measured_points(const Known& known) {
  std::vector<KnobPoint> at = {known.at_default.at};
  for (const Observed& probe : known.probes) at.push_back(probe.at);
  return at;
}

Residuals measured_residuals(const Known& known, const Schema& schema, const Eigen::VectorXd& log_time,
                             const Eigen::VectorXd& log_energy) {
  const std::vector<KnobPoint> at = measured_points(known);
  Residuals out{places_of(known, schema, at), -log_time, -log_energy};
  for (std::size_t i = 0; i < known.probes.size(); ++i) {
    const auto row = static_cast<Index>(i + 1);
    out.time[row] += std::log(known.probes[i].time / known.at_default.time);
    out.energy[row] += std::log(known.probes[i].energy / known.at_default.energy);
  }
  return out;
}

Eigen::MatrixXd places_of(const Known& known, const Schema& schema, std::span<const KnobPoint> at) {
  Eigen::MatrixXd out(static_cast<Index>(at.size()), static_cast<Index>(schema.knobs().size()));
  for (std::size_t i = 0; i < at.size(); ++i) {
    const std::vector<double> place = schema.place(known, at[i]);
    for (std::size_t k = 0; k < place.size(); ++k)
      out(static_cast<Index>(i), static_cast<Index>(k)) = place[k];
  }
  return out;
}

}  // namespace rubato::predict::trees
