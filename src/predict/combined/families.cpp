#include "predict/combined/families.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "predict/combined/likeness.h"

namespace rubato::predict::combined {
namespace {

constexpr double kSameCurve = 0.01;
constexpr double kSameDefault = 0.2;
constexpr double kShareOfTwins = 0.25;
constexpr std::ptrdiff_t kFewestTwins = 3;  // fewer are chance
constexpr std::size_t kFewestFamilies = 3;

bool same_curve(const Curve& a, const Curve& b) {
  if (a.rows.size() != b.rows.size()) return false;
  double square = 0;
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    if (a.rows[i].at != b.rows[i].at) return false;
    const auto off = [&](auto of) {
      return std::log((of(a.rows[i]) / of(a.known.at_default)) / (of(b.rows[i]) / of(b.known.at_default)));
    };
    const double time = off([](const Observed& row) { return row.time.value(); });
    const double energy = off([](const Observed& row) { return row.energy.value(); });
    square += time * time + energy * energy;
  }
  return square < kSameCurve * kSameCurve * 2 * static_cast<double>(a.rows.size());
}

}  // namespace

std::vector<Curve> by_family(std::span<const Curve> curves) {
  std::vector<Curve> out(curves.begin(), curves.end());
  if (curves.empty()) return out;
  std::map<std::string, double> size;
  for (const Curve& c : curves) ++size[c.group];
  const Eigen::MatrixXd defaults = Defaults(curves).scores;
  std::map<std::pair<std::string, std::string>, std::set<std::size_t>> twins;  // of two groups
  for (std::size_t a = 0; a < curves.size(); ++a)
    for (std::size_t b = a + 1; b < curves.size(); ++b) {
      if (curves[a].group == curves[b].group) continue;
      const auto apart =
          defaults.row(static_cast<Eigen::Index>(a)) - defaults.row(static_cast<Eigen::Index>(b));
      if (apart.squaredNorm() > kSameDefault * kSameDefault * static_cast<double>(defaults.cols())) continue;
      if (!same_curve(curves[a], curves[b])) continue;
      auto& both = twins[std::minmax(curves[a].group, curves[b].group)];
      both.insert(a);
      both.insert(b);
    }
  std::map<std::string, std::string> family;
  for (const auto& [group, members] : size) family[group] = group;
  for (const auto& [groups, both] : twins) {
    const auto first = std::count_if(both.begin(), both.end(), [&, &name = groups.first](std::size_t i) {
      return curves[i].group == name;
    });
    const auto fewest = std::min(first, std::ssize(both) - first);
    const double all = size[groups.first] + size[groups.second];
    if (fewest < kFewestTwins || static_cast<double>(both.size()) < kShareOfTwins * all) continue;
    const std::string from = family[groups.second];
    const std::string into = family[groups.first];
    for (auto& [group, name] : family)
      if (name == from) name = into;
  }
  std::set<std::string> left;
  for (const auto& [group, name] : family) left.insert(name);
  if (left.size() < kFewestFamilies) return out;
  for (Curve& c : out) c.group = family[c.group];
  return out;
}

}  // namespace rubato::predict::combined
