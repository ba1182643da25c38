#include "predict/trees/spread.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace rubato::predict::trees {
namespace {

constexpr std::size_t kBins = 6;
constexpr std::size_t kLeastInBin = 8;
constexpr double kSameDistance = 1e-9;

}  // namespace

Spread Spread::fit(std::vector<Seen> sized, double at_default) {
  std::stable_sort(sized.begin(), sized.end(),
                   [](const Seen& a, const Seen& b) { return a.distance < b.distance; });
  struct Bin {
    double distance = 0;
    double squared = 0;
    double count = 0;
  };
  std::vector<Bin> bins = {{0.0, at_default, 1.0}};
  const std::size_t count = std::clamp<std::size_t>(sized.size() / kLeastInBin, 1, kBins);
  for (std::size_t b = 0; b < count; ++b) {
    Bin bin;
    for (std::size_t i = b * sized.size() / count; i < (b + 1) * sized.size() / count; ++i) {
      bin.distance += sized[i].distance;
      bin.squared += sized[i].squared;
      bin.count += 1;
    }
    if (bin.count > 0) bins.push_back({bin.distance / bin.count, bin.squared / bin.count, bin.count});
  }
  for (std::size_t b = 1; b + 1 < bins.size();) {
    const bool apart = bins[b + 1].distance > bins[b].distance + kSameDistance;
    if (apart && bins[b].squared <= bins[b + 1].squared) {
      ++b;
      continue;
    }
    Bin& low = bins[b];
    const Bin& high = bins[b + 1];
    const double sum = low.count + high.count;
    low = {(low.distance * low.count + high.distance * high.count) / sum,
           (low.squared * low.count + high.squared * high.count) / sum, sum};
    bins.erase(bins.begin() + static_cast<std::ptrdiff_t>(b) + 1);
    b = std::max<std::size_t>(1, b - 1);
  }
  Spread out;
  out.distance_.clear();
  out.deviation_.clear();
  for (const Bin& bin : bins) {
    out.distance_.push_back(bin.distance);
    out.deviation_.push_back(std::max(kLeastDeviation, std::sqrt(bin.squared)));
  }
  return out;
}

double Spread::at(double d) const {
  if (d >= distance_.back())
    return deviation_.back() * (distance_.back() > 0 ? std::max(1.0, d / distance_.back()) : 1.0);
  const auto above = std::upper_bound(distance_.begin(), distance_.end(), d);
  const auto i = static_cast<std::size_t>(above - distance_.begin());
  const double share = (d - distance_[i - 1]) / (distance_[i] - distance_[i - 1]);
  return deviation_[i - 1] + share * (deviation_[i] - deviation_[i - 1]);
}

double Spread::row_noise() const {
  // What the settings nearest to the default have alone: there the predictor itself is least at fault.
  return std::sqrt(noise_) * deviation_[std::min<std::size_t>(1, deviation_.size() - 1)];
}

void Spread::stretch(double by) {
  for (double& deviation : deviation_) deviation = std::max(kLeastDeviation, deviation * by);
}

nlohmann::json Spread::state() const {
  return {{"distance", distance_}, {"deviation", deviation_}, {"noise_share", noise_}};
}

Result<Spread> Spread::read(const nlohmann::json& state) try {
  Spread out;
  out.distance_ = state.at("distance").get<std::vector<double>>();
  out.deviation_ = state.at("deviation").get<std::vector<double>>();
  out.noise_ = state.at("noise_share").get<double>();
  bool possible = !out.distance_.empty() && out.distance_.size() == out.deviation_.size() &&
                  out.distance_.front() == 0 && out.noise_ >= 0 && out.noise_ <= 1;
  for (std::size_t i = 0; possible && i < out.distance_.size(); ++i)
    possible = out.deviation_[i] > 0 && std::isfinite(out.deviation_[i]) && std::isfinite(out.distance_[i]) &&
               (i == 0 || out.distance_[i] > out.distance_[i - 1]);
  if (!possible) return fail(ErrorCode::corrupt, "the spread of the model's errors is not possible");
  return out;
} catch (const nlohmann::json::exception&) {
  return fail(ErrorCode::corrupt, "the spread of the model's errors cannot be read");
}

}  // namespace rubato::predict::trees
