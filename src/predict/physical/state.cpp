#include "predict/physical/state.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace rubato::predict::physical {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;

json rows_of(const Eigen::MatrixXd& m) {
  json out = json::array();
  for (Eigen::Index i = 0; i < m.rows(); ++i) {
    json row = json::array();
    for (Eigen::Index j = 0; j < m.cols(); ++j) row.push_back(m(i, j));
    out.push_back(std::move(row));
  }
  return out;
}

json list_of(const Eigen::VectorXd& v) {
  json out = json::array();
  for (const double x : v) out.push_back(x);
  return out;
}

json of(const Regression& r) {
  const Regression::State& s = r.state();
  return {{"mean", s.prior.mean},      {"deviation", s.prior.deviation},
          {"spread", s.prior.spread},  {"linear", s.linear},
          {"smooth", s.smooth},        {"relevance", list_of(s.relevance)},
          {"value", list_of(s.value)}, {"variance", list_of(s.variance)}};
}

/// Reads members one by one and remembers the first that is wrong, so that callers check once.
class Reader {
 public:
  [[nodiscard]] const std::string& wrong() const { return wrong_; }

  const json* member(const json& from, const char* name) {
    if (from.is_object() && from.contains(name)) return &from[name];
    blame(name);
    return nullptr;
  }

  double number(const json& from, const char* name) {
    const json* found = member(from, name);
    return found ? number_in(*found, name) : 0.0;
  }

  Eigen::VectorXd list(const json& from, const char* name, Eigen::Index size) {
    Eigen::VectorXd out = Eigen::VectorXd::Zero(size);
    const json* found = member(from, name);
    if (!found) return out;
    if (!found->is_array() || found->size() != static_cast<std::size_t>(size)) {
      blame(name);
      return out;
    }
    for (Eigen::Index i = 0; i < size; ++i) out[i] = number_in((*found)[static_cast<std::size_t>(i)], name);
    return out;
  }

  Eigen::MatrixXd rows(const json& from, const char* name, Eigen::Index columns) {
    const json* found = member(from, name);
    if (!found || !found->is_array()) {
      blame(name);
      return Eigen::MatrixXd(0, columns);
    }
    Eigen::MatrixXd out = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(found->size()), columns);
    for (Eigen::Index i = 0; i < out.rows(); ++i) {
      const json& row = (*found)[static_cast<std::size_t>(i)];
      if (!row.is_array() || row.size() != static_cast<std::size_t>(columns)) {
        blame(name);
        return out;
      }
      for (Eigen::Index j = 0; j < columns; ++j)
        out(i, j) = number_in(row[static_cast<std::size_t>(j)], name);
    }
    return out;
  }

  Regression::State regression(const json& from, Eigen::Index covariates, Eigen::Index workloads) {
    const Regression::Prior prior{number(from, "mean"), number(from, "deviation"), number(from, "spread")};
    return {.prior = prior,
            .linear = number(from, "linear"),
            .smooth = number(from, "smooth"),
            .relevance = list(from, "relevance", covariates),
            .value = list(from, "value", workloads),
            .variance = list(from, "variance", workloads)};
  }

  void blame(const char* name) {
    if (wrong_.empty()) wrong_ = name;
  }

 private:
  double number_in(const json& value, const char* name) {
    if (value.is_number() && std::isfinite(value.get<double>())) return value.get<double>();
    blame(name);
    return 0.0;
  }

  std::string wrong_;
};

void read_population(Reader& in, const json& state, Learned& out) {
  const json* population = in.member(state, "population");
  if (population && population->is_null()) return;
  if (!population) return;
  const json* names = in.member(*population, "features");
  if (!names || !names->is_array()) return in.blame("features");
  for (const json& name : *names) {
    if (!name.is_string()) return in.blame("features");
    out.schema.features.push_back(name.get<std::string>());
  }
  const json* by_limit = in.member(*population, "by_limit");
  if (!by_limit || !by_limit->is_boolean()) return in.blame("by_limit");
  out.schema.by_limit = by_limit->get<bool>();
  const auto covariates = static_cast<Eigen::Index>(out.schema.features.size()) + 1;
  const Eigen::VectorXd mean = in.list(*population, "covariate_means", covariates);
  out.standardised = Standardised(mean, in.list(*population, "covariate_deviations", covariates));
  out.trained.covariates = in.rows(*population, "covariates", covariates);
  const Eigen::Index workloads = out.trained.covariates.rows();
  for (const double g : in.list(*population, "groups", workloads)) {
    if (g < 0 || g >= static_cast<double>(workloads)) return in.blame("groups");
    out.trained.group.push_back(static_cast<int>(g));
  }
  const json* parameters = in.member(*population, "parameters");
  const json* noisiness = in.member(*population, "noisiness");
  if (!parameters || !parameters->is_array() || parameters->size() != kParameters)
    return in.blame("parameters");
  std::vector<Regression::State> states;
  for (const json& p : *parameters) states.push_back(in.regression(p, covariates, workloads));
  if (noisiness) states.push_back(in.regression(*noisiness, covariates, workloads));
  for (const auto& s : states)
    if (s.prior.deviation <= 0 || s.prior.spread <= 0 || s.linear < 0 || s.smooth < 0 ||
        (s.variance.array() <= 0).any() || s.relevance.squaredNorm() <= 0)
      in.blame("parameters");
  if (!in.wrong().empty()) return;
  for (std::size_t k = 0; k < parameters->size(); ++k) out.regressions.emplace_back(out.trained, states[k]);
  out.noisiness.emplace(out.trained, states.back());
}

}  // namespace

json to_json(const Learned& learned) {
  json population = nullptr;
  if (!learned.regressions.empty() && learned.noisiness) {
    json parameters = json::array();
    for (const Regression& r : learned.regressions) parameters.push_back(of(r));
    population = {{"features", learned.schema.features},
                  {"by_limit", learned.schema.by_limit},
                  {"covariate_means", list_of(learned.standardised.mean())},
                  {"covariate_deviations", list_of(learned.standardised.deviation())},
                  {"covariates", rows_of(learned.trained.covariates)},
                  {"groups", learned.trained.group},
                  {"parameters", std::move(parameters)},
                  {"noisiness", of(*learned.noisiness)}};
  }
  json places = json::array();
  for (const Place& p : learned.pattern.places()) places.push_back({p[0], p[1], p[2]});
  return {{"version", kVersion},
          {"population", std::move(population)},
          {"spread", rows_of(learned.spread)},
          {"noise", list_of(learned.noise)},
          {"departure", list_of(learned.departure)},
          {"places", std::move(places)},
          {"shifts", rows_of(learned.pattern.shifts())},
          {"widening", learned.widening}};
}

Result<Learned> from_json(const json& state) {
  Reader in;
  Learned out;
  if (in.number(state, "version") != kVersion) in.blame("version");
  read_population(in, state, out);
  const Eigen::MatrixXd spread = in.rows(state, "spread", kParameters);
  out.noise = in.list(state, "noise", 2);
  out.departure = in.list(state, "departure", 2);
  const Eigen::MatrixXd places = in.rows(state, "places", 3);
  Eigen::MatrixXd shifts = in.rows(state, "shifts", 4);
  const Eigen::MatrixXd widening = in.rows(state, "widening", 2);
  if (spread.rows() == kParameters) out.spread = spread;
  if (spread.rows() != kParameters || spread.llt().info() != Eigen::Success) in.blame("spread");
  if ((out.noise.array() <= 0).any()) in.blame("noise");
  if ((out.departure.array() < 0).any()) in.blame("departure");
  if (shifts.rows() != places.rows()) in.blame("shifts");
  if (widening.rows() == 0 || (widening.array() <= 0).any()) in.blame("widening");
  if (!in.wrong().empty())
    return fail(ErrorCode::corrupt,
                cat("the physical model's '", in.wrong(), "' is missing or makes no sense"),
                "train it anew: rubato model train");
  std::vector<Place> at;
  for (const auto& row : places.rowwise()) at.emplace_back(row.transpose());
  if (!at.empty()) out.pattern = Pattern(std::move(at), std::move(shifts));
  for (const auto& row : widening.rowwise()) out.widening.push_back({row[0], row[1]});
  return out;
}

}  // namespace rubato::predict::physical
