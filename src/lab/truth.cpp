#include "lab/truth.h"

#include "base/text.h"

namespace rubato::lab {
namespace {

plan::KnobSpace space_of(const RowGrid& rows) {
  plan::KnobSpace space{.gpu = rows.gpu, .axes = {}, .found = {}, .highest = {}};
  plan::Position top;
  for (std::size_t a = 0; a < rows.axes.size(); ++a) {
    space.axes.push_back({rows.knobs[a], rows.axes[a].wanted});
    top.push_back(rows.axes[a].wanted.size() - 1);
  }
  space.highest = plan::point_at(space, top);
  space.found = plan::point_at(space, plan::position_of(space, rows.found));
  return space;
}

std::size_t index_of(const plan::KnobSpace& space, const predict::KnobPoint& point) {
  const plan::Position position = plan::position_of(space, point);
  std::size_t index = 0;
  for (std::size_t a = 0; a < position.size(); ++a) index = index * space.axes[a].values.size() + position[a];
  return index;
}

/// In the order of plan::candidates: the last axis runs fastest.
std::vector<predict::KnobPoint> every_setting(const plan::KnobSpace& space) {
  std::vector<predict::KnobPoint> out;
  plan::Position at(space.axes.size(), 0);
  for (;;) {
    out.push_back(plan::point_at(space, at));
    std::size_t a = at.size();
    while (a > 0 && ++at[a - 1] == space.axes[a - 1].values.size()) at[--a] = 0;
    if (a == 0) return out;
  }
}

struct Absolute {
  std::vector<double> time;   // s
  std::vector<double> power;  // W
};

Absolute absolute(const RowGrid& rows, TruthKind truth) {
  return {spread(rows.axes, rows.time, false, truth), spread(rows.axes, rows.power, true, truth)};
}

Costs relative(const Absolute& all, std::size_t found) {
  Costs out;
  const double energy = all.time[found] * all.power[found];
  for (std::size_t i = 0; i < all.time.size(); ++i) {
    out.time.push_back(all.time[i] / all.time[found]);
    out.energy.push_back(all.time[i] * all.power[i] / energy);
  }
  return out;
}

Kind kind_of(const RowGrid& rows, TruthKind truth) {
  if (truth == TruthKind::denoised) return Kind::interpolated;
  for (const SurfaceAxis& axis : rows.axes)
    if (axis.rows != axis.wanted) return Kind::interpolated;
  return Kind::replayed;
}

}  // namespace

Costs costs_of(const RowGrid& rows, TruthKind truth) {
  const plan::KnobSpace space = space_of(rows);
  return relative(absolute(rows, truth), index_of(space, space.found));
}

Job job_of(const RowGrid& rows, TruthKind truth, Seconds iteration) {
  Job job;
  job.name = rows.workload;
  job.group = rows.group;
  job.space = space_of(rows);
  job.grid = every_setting(job.space);
  job.found = index_of(job.space, job.space.found);
  job.kind = kind_of(rows, truth);
  const Absolute all = absolute(rows, truth);
  Costs costs = relative(all, job.found);
  job.programs.push_back({.time = std::move(costs.time),
                          .energy = std::move(costs.energy),
                          .power = Watts(all.power[job.found]),
                          .iteration = iteration,
                          .features = rows.features});
  return job;
}

Result<std::vector<RowGrid>> row_grids(const SweepTable& table, const TruthOptions& options) {
  const std::vector<Knob> knobs = options.knobs.empty() ? varied_knobs(table) : options.knobs;
  const auto curves = curves_along(table, knobs);
  if (!curves) return fail(curves.error());
  std::vector<RowGrid> out;
  for (const predict::Curve& curve : *curves) {
    auto rows = row_grid(curve, knobs, options.resolution);
    if (!rows) return fail(rows.error());
    out.push_back(std::move(*rows));
  }
  return out;
}

Result<std::vector<Job>> jobs_of(const SweepTable& table, const TruthOptions& options) {
  const auto rows = row_grids(table, options);
  if (!rows) return fail(rows.error());
  std::vector<Job> jobs;
  for (const RowGrid& one : *rows) jobs.push_back(job_of(one, options.truth, options.iteration));
  return jobs;
}

}  // namespace rubato::lab
