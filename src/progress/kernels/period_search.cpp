#include "progress/kernels/period_search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "progress/kernels/accumulation.h"
#include "progress/kernels/alignment.h"
#include "progress/kernels/candidates.h"
#include "progress/kernels/consensus.h"
#include "progress/stats.h"

namespace rubato::progress::kernels {
namespace {

constexpr std::size_t kFewest = 8;  // launches
constexpr double kEnough = 0.75;    // of the launches have to come again
constexpr double kClear = 0.9;
constexpr double kEnoughByName = 0.9;
constexpr double kAsGood = 0.12;             // as what comes again after a longer distance
constexpr std::size_t kLongForALayer = 100;  // launches
constexpr std::size_t kMostInTurn = 20;      // such long units inside an iteration
constexpr double kEnoughAnchors = 0.9;       // fewer launches are looked at, so more of them have to
constexpr std::size_t kFewestAnchors = 10;   // iterations
constexpr std::size_t kMostGroups = 24;      // of launches that come equally often, tried
constexpr std::size_t kFewestTogether = 3;
constexpr std::size_t kMostReferences = 6;
constexpr double kMostUneven = 0.6;
constexpr std::size_t kMostShapes = 8;  // that come in turn

struct Unit {
  std::size_t length = 0;
  SelfMatch match;
};

bool all_equal(std::span<const Token> tokens) {
  return std::ranges::all_of(tokens, [&](Token t) { return t == tokens.front(); });
}

// Fraction of the launches that are of a kind that `part` has. Two kinds of layers of the same length come
// again after the same distance, and yet neither is all there is.
double covered_by(std::span<const Token> part, std::span<const Token> tokens) {
  std::vector<Token> kinds(part.begin(), part.end());
  std::ranges::sort(kinds);
  const auto covered =
      std::ranges::count_if(tokens, [&](Token t) { return std::ranges::binary_search(kinds, t); });
  return static_cast<double>(covered) / static_cast<double>(tokens.size());
}

// The shortest distance after which nearly everything comes again. Its multiples match as well; parts of it
// (layers of a network) match only where they repeat.
std::optional<Unit> smallest_unit(std::span<const Token> tokens, double enough) {
  std::vector<Unit> units;
  for (const std::size_t length : candidate_periods(tokens)) {
    const SelfMatch match = match_itself(tokens, length);
    if (match.fraction() < enough) continue;
    const auto one = tokens.subspan(match.good_from, length);
    if (all_equal(one) && !all_equal(tokens)) continue;
    if (covered_by(one, tokens) < enough) continue;
    units.push_back({.length = length, .match = match});
  }
  for (const Unit& unit : units) {
    const bool is_part = std::ranges::any_of(units, [&](const Unit& longer) {
      // Epochs repeat too; what they are made of is long enough to be an iteration.
      if (unit.length >= kLongForALayer && longer.length > kMostInTurn * unit.length) return false;
      return longer.match.fraction() > unit.match.fraction() + kAsGood;
    });
    if (!is_part) return unit;
  }
  return std::nullopt;
}

FoundPattern make(std::span<const Token> tokens, const Unit& unit, Sameness sameness) {
  return FoundPattern{.sameness = sameness,
                      .pattern = consensus(tokens.subspan(unit.match.good_from), unit.length).pattern,
                      .anchors = {},
                      .match = unit.match.fraction()};
}

// The iteration begins after the optimizer's last launch.
void begin_after(std::vector<Token>& pattern, Token last) {
  const auto at = std::find(pattern.rbegin(), pattern.rend(), last);
  if (at != pattern.rend()) std::rotate(pattern.begin(), at.base(), pattern.end());
}

std::optional<FoundPattern> find_same(std::span<const Token> tokens, std::span<const double> busy_s,
                                      Sameness sameness) {
  const auto unit = smallest_unit(tokens, kEnough);
  if (!unit) return std::nullopt;
  FoundPattern found = make(tokens, *unit, sameness);
  const Accumulation accumulation = find_accumulation(tokens, busy_s, found.pattern.size());
  if (accumulation.step) {
    const NowAndThen& step = *accumulation.step;
    const Unit whole{.length = step.distance, .match = match_itself(tokens, step.distance)};
    if (whole.match.fraction() >= kEnough) {
      found = make(tokens, whole, sameness);
      begin_after(found.pattern, step.last);
      found.micro_batches = step.units;
    }
  }
  found.unit_chance = accumulation.chance;
  return found;
}

// How unevenly a launch comes, over the mean distance: standard deviation of its distances.
double unevenness(const std::vector<std::size_t>& positions) {
  Moments apart;
  for (std::size_t i = 1; i < positions.size(); ++i)
    apart.add(static_cast<double>(positions[i] - positions[i - 1]));
  const auto variance = apart.variance();
  return variance ? std::sqrt(*variance) / apart.mean().value_or(1) : 1e9;
}

std::vector<Token> only(std::span<const Token> tokens, const std::vector<Token>& wanted) {
  std::vector<Token> kept;
  for (const Token t : tokens)
    if (std::ranges::binary_search(wanted, t)) kept.push_back(t);
  return kept;
}

// Of the candidates, those that come once between any two of `reference`, but for one time in twenty.
std::vector<Token> in_step_with(Token reference, std::span<const Token> tokens,
                                const std::vector<Token>& candidates) {
  std::vector<std::size_t> since(candidates.size(), 0);
  std::vector<std::size_t> once(candidates.size(), 0);
  std::size_t rounds = 0;
  bool begun = false;
  for (const Token t : tokens) {
    const auto at = std::ranges::lower_bound(candidates, t);
    if (at == candidates.end() || *at != t) continue;
    ++since[static_cast<std::size_t>(at - candidates.begin())];
    if (t != reference) continue;
    for (std::size_t i = 0; begun && i < since.size(); ++i)
      if (since[i] == 1) ++once[i];
    if (begun) ++rounds;
    begun = true;
    std::ranges::fill(since, 0);
  }
  std::vector<Token> out;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (20 * once[i] >= 19 * rounds) out.push_back(candidates[i]);
  return out;
}

// Launches that come `count` times, give or take `slack`, in the same order each time.
std::optional<FoundPattern> find_anchors(std::span<const Token> tokens,
                                         const std::map<Token, std::size_t>& counts, std::size_t count,
                                         double& best_unevenness) {
  // The borders of what was seen, and loss, make counts differ a little.
  const std::size_t slack = std::max<std::size_t>(1, count / 50);
  std::vector<Token> group;
  for (const auto& [token, own] : counts)
    if (own + slack >= count && own <= count + slack) group.push_back(token);
  const std::vector<Token> kept = only(tokens, group);
  FoundPattern found;
  const std::size_t stride = std::max<std::size_t>(1, group.size() / kMostReferences);
  for (std::size_t i = 0; i < group.size(); i += stride) {
    std::vector<Token> in_step = in_step_with(group[i], kept, group);
    if (in_step.size() > found.anchors.size()) found.anchors = std::move(in_step);
  }
  if (found.anchors.size() < kFewestTogether) return std::nullopt;
  std::vector<std::size_t> positions;  // of one of them
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i] == found.anchors.front()) positions.push_back(i);
  // Launches of one shape among several come in their own order too, but at uneven distances.
  const double uneven = unevenness(positions);
  if (uneven >= best_unevenness) return std::nullopt;
  const std::vector<Token> anchors_only = only(kept, found.anchors);
  const auto unit = smallest_unit(anchors_only, kEnoughAnchors);
  if (!unit) return std::nullopt;
  FoundPattern made = make(anchors_only, *unit, Sameness::anchors);
  if (made.pattern.size() != found.anchors.size()) return std::nullopt;
  made.anchors = std::move(found.anchors);
  best_unevenness = uneven;
  return made;
}

// Launches that come equally often, once an iteration each, whatever lies between them.
std::optional<FoundPattern> find_anchors(std::span<const Token> tokens) {
  std::map<Token, std::size_t> counts;
  for (const Token t : tokens) ++counts[t];
  std::map<std::size_t, std::size_t> tokens_with;  // by count
  for (const auto& [token, count] : counts)
    if (count >= kFewestAnchors) ++tokens_with[count];
  std::vector<std::pair<std::size_t, std::size_t>> groups;
  for (const auto& [count, own] : tokens_with)
    if (own >= kFewestTogether) groups.emplace_back(own, count);
  std::ranges::sort(groups, std::greater<>());
  groups.resize(std::min(groups.size(), kMostGroups));
  double unevenness = kMostUneven;
  std::optional<FoundPattern> best;
  for (const auto& [own, count] : groups)
    if (auto found = find_anchors(tokens, counts, count, unevenness)) best = std::move(found);
  return best;
}

// Shapes in turn: an iteration of each is an equal part of what was found, but for the grids.
std::optional<FoundPattern> find_turn_of_shapes(std::span<const Token> names, const FoundPattern& whole) {
  for (std::size_t shapes = kMostShapes; shapes >= 2; --shapes) {
    const std::size_t length = whole.pattern.size() / shapes;
    if (length < 3 || whole.pattern.size() % shapes != 0) continue;
    const Unit part{.length = length, .match = match_itself(names, length)};
    if (part.match.fraction() < std::max(kEnoughByName, whole.match - 0.02)) continue;
    if (!all_equal(names.subspan(part.match.good_from, length))) return make(names, part, Sameness::name);
  }
  return std::nullopt;
}

std::optional<FoundPattern> find_in(std::span<const Launch> launches, const TokenTable& table,
                                    bool anchors_too) {
  std::vector<Token> exact;
  std::vector<Token> names;
  std::vector<double> busy_s;
  exact.reserve(launches.size());
  names.reserve(launches.size());
  busy_s.reserve(launches.size());
  for (const Launch& l : launches) {
    exact.push_back(l.token);
    names.push_back(table.name(l.token));
    busy_s.push_back((l.end - l.begin).value());
  }
  if (all_equal(exact)) {
    // A kernel that comes again and again says nothing; a graph may well hold the whole iteration.
    if (!table.is_graph(exact.front())) return std::nullopt;
    return FoundPattern{.sameness = Sameness::exact,
                        .pattern = {exact.front()},
                        .anchors = {},
                        .match = 1,
                        .unit_chance = 0.7};
  }
  auto found = find_same(exact, busy_s, Sameness::exact);
  if (!found && !all_equal(names)) found = find_same(names, busy_s, Sameness::name);
  if (!found) return anchors_too ? find_anchors(exact) : std::nullopt;
  if (found->sameness == Sameness::exact && found->micro_batches == 1)
    if (auto part = find_turn_of_shapes(names, *found)) return part;
  return found;
}

}  // namespace

std::optional<FoundPattern> find_pattern(std::span<const Launch> launches, const TokenTable& table) {
  // What came first (tuning, another phase) may hide what goes on now: then the later part agrees better.
  std::optional<FoundPattern> best;
  for (std::size_t part = 1; part <= 4; part *= 2) {
    const std::size_t size = launches.size() / part;
    if (size < kFewest || (part > 1 && size < 64)) break;
    auto found = find_in(launches.last(size), table, part == 1);
    if (!found) continue;
    found->in_all = part == 1;
    const bool whole = found->sameness != Sameness::anchors;
    const bool best_whole = best && best->sameness != Sameness::anchors;
    if (!best || (whole && (!best_whole || found->match > best->match + kAsGood))) best = std::move(found);
    if (best->sameness != Sameness::anchors && best->match >= kClear) break;
  }
  return best;
}

std::optional<Token> symbol_of(const FoundPattern& found, const TokenTable& table, Token token) {
  if (found.sameness == Sameness::name) return table.name(token);
  if (found.sameness == Sameness::anchors && !std::ranges::binary_search(found.anchors, token))
    return std::nullopt;
  return token;
}

}  // namespace rubato::progress::kernels
