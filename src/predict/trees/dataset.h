// The curves as rows for the trees, and how groups are held out of them.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <span>
#include <vector>

#include "predict/trees/residuals.h"
#include "predict/trees/schema.h"

namespace rubato::predict::trees {

struct Dataset {
  Features features;                   // of all curves' rows, in their order
  std::vector<std::size_t> begin;      // of each curve in the rows; one more at the end
  std::vector<bool> is_default;        // row by row
  std::vector<float> weight;           // every workload counts alike, 1 in the mean
  Eigen::VectorXd time;                // ln over the default
  Eigen::VectorXd energy;              // the same
  std::vector<Eigen::MatrixXd> place;  // of each curve: settings x knobs
  std::vector<std::size_t> fold;       // of each curve; a group is in one
  std::size_t folds = 0;
  std::size_t groups = 0;  // or workloads, where there is one group

  [[nodiscard]] std::size_t curves() const { return place.size(); }
};

/// Groups are dealt to at most `most_folds` folds in the order of their names, so that each is held out
/// together; where there is one group alone, its workloads are. invalid_argument: fewer than two workloads.
[[nodiscard]] Result<Dataset> dataset_of(std::span<const Curve> curves, const Schema& schema,
                                         std::size_t most_folds);

/// Some rows of a dataset, for training on them or asking about them.
struct Part {
  Features features;
  std::vector<float> weight;
  std::vector<std::size_t> rows;  // in the dataset
};
[[nodiscard]] Part part_of(const Dataset& data,
                           const std::function<bool(std::size_t row, std::size_t curve)>& wanted);

/// Mean over workloads of the mean |ln| error over their rows but the default's.
[[nodiscard]] double mean_error(const Dataset& data, const Eigen::VectorXd& truth,
                                const Eigen::VectorXd& predicted);
[[nodiscard]] std::vector<Residuals> residuals_of(const Dataset& data, const Eigen::VectorXd& time,
                                                  const Eigen::VectorXd& energy);
/// What was measured of a workload, against what is predicted there: its default and its probes.
[[nodiscard]] std::vector<KnobPoint> measured_points(const Known& known);
[[nodiscard]] Residuals measured_residuals(const Known& known, const Schema& schema,
                                           const Eigen::VectorXd& log_time,
                                           const Eigen::VectorXd& log_energy);
[[nodiscard]] Eigen::MatrixXd places_of(const Known& known, const Schema& schema,
                                        std::span<const KnobPoint> at);

}  // namespace rubato::predict::trees
