#include "progress/period/parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace rubato::progress {

namespace {

constexpr std::size_t kPhases = 4;   // bins of the distance from the phase asked for, up to half an update
constexpr std::size_t kBlocks = 12;  // of the trace: what differs has to differ throughout
constexpr double kLeastPairs = 8;    // of a kind and column
constexpr double kLeastInBlock = 4;
constexpr double kMet = 0.3;     // share of the rarer pairs that meet the other kind at like phases
constexpr double kSteps = 60;    // 2, 3 and 5 parts of a period are whole steps
constexpr double kOneBin = 4.2;  // steps, so that half a step still falls into the first bin
constexpr int kReach = 24;       // parts: so many phases of the sensor are met on the way
constexpr double kLost = 0.8;    // of the difference of unrelated readings

// A multiple is the iteration where its parts differ throughout, by as much as makes an iteration observable
// (docs/evidence/periods.md: 60 times the noise per update, within eight iterations).
constexpr double kLongerZ = 4;
constexpr double kLongerEvidence = 60;
constexpr double kLongerExplained = 0.9;
constexpr double kLongerSame = 0.6;  // and the multiple itself must repeat
constexpr double kLongerCycles = 4;  // of the multiple, in what is looked at

// A part is the iteration where it explains what the whole does, but for what chance makes of it.
constexpr double kPartExplained = 0.85;
constexpr double kPartZ = 2.5;
constexpr double kPartEvidence = 20;
constexpr double kPartCross = 0.9;     // the part itself must repeat
constexpr double kPartUpdates = 2.8;   // fewer in a part are no period that can be seen
constexpr double kHiddenWorse = 0.15;  // of columns where the kinds do not meet
// A part of few updates is never met at quite the same phase: it explains less, and what is missing is
// significant. One odd part among `m`, though, leaves (m - 2) / m explained.
constexpr double kFewUpdates = 8;
constexpr double kFewExplained = 0.7;
constexpr double kFewMargin = 0.15;
constexpr double kFewHiddenWorse = 0.4;
constexpr double kLeastShared = 60;

struct Sum {
  double squares = 0;
  double count = 0;
  [[nodiscard]] double mean() const { return squares / count; }
};

using Kinds = std::array<Sum, 2>;           // whole periods apart, and not
using Phases = std::array<Kinds, kPhases>;  // by distance from the phase asked for

/// Of one column: squared differences by block of the trace, distance of phases, and kind of pair.
struct ColumnPairs {
  std::array<Phases, kBlocks> sums{};
  double unrelated = 0;
};

ColumnPairs pairs_of(const Events& column, double part_s, int parts, int reach, double update_s) {
  ColumnPairs out;
  const auto& at = column.at_s;
  const auto& x = column.value;
  const auto count = static_cast<double>(x.size());
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / count;
  for (const double v : x) out.unrelated += 2 * (v - mean) * (v - mean) / count;
  const double span = at.back() - at.front();
  const double tolerance = 0.5 * update_s;
  // From half a period below a whole one to half above: what drifts away with distance does so for both
  // kinds.
  const int nearest = (parts + 1) / 2;
  const int farthest = reach + parts / 2;
  std::vector<std::size_t> partner(static_cast<std::size_t>(farthest) + 1, 0);
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto block =
        std::min(kBlocks - 1, static_cast<std::size_t>((at[i] - at.front()) / span * double{kBlocks}));
    for (int n = nearest; n <= farthest; ++n) {
      const double want = at[i] + n * part_s;
      if (want > at.back() + tolerance) break;
      std::size_t& j = partner[static_cast<std::size_t>(n)];
      while (j + 1 < at.size() && std::abs(at[j + 1] - want) <= std::abs(at[j] - want)) ++j;
      const double off = std::abs(at[j] - want);
      if (off >= tolerance) continue;
      const auto phase = static_cast<std::size_t>(off / tolerance * double{kPhases});
      Sum& sum = out.sums[block][phase][n % parts == 0 ? 0 : 1];
      sum.squares += (x[i] - x[j]) * (x[i] - x[j]);
      sum.count += 1;
    }
  }
  return out;
}

}  // namespace

double PartPairs::explained() const {
  return unrelated > same ? (unrelated - cross) / (unrelated - same) : 0.0;
}

PartPairs compare_parts(const std::vector<Events>& columns, const std::vector<double>& updates_s,
                        double period_s, int parts, int reach) {
  PartPairs out;
  std::array<double, kBlocks> steps{};
  std::array<double, kBlocks> known{};
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (static_cast<double>(columns[c].at_s.size()) < kLeastPairs) continue;
    const ColumnPairs found = pairs_of(columns[c], period_s / parts, parts, reach, updates_s[c]);
    Phases whole{};
    Kinds all{};
    for (const auto& block : found.sums)
      for (std::size_t p = 0; p < kPhases; ++p)
        for (std::size_t kind = 0; kind < 2; ++kind) {
          whole[p][kind].squares += block[p][kind].squares;
          whole[p][kind].count += block[p][kind].count;
          all[kind].squares += block[p][kind].squares;
          all[kind].count += block[p][kind].count;
        }
    if (std::min(all[0].count, all[1].count) < kLeastPairs) continue;
    // At equal phases only: both kinds count in a bin by the rarer one.
    double shared = 0;
    double same = 0;
    double cross = 0;
    for (const auto& bin : whole) {
      const double both = std::min(bin[0].count, bin[1].count);
      if (both < 1) continue;
      shared += both;
      same += both * bin[0].mean();
      cross += both * bin[1].mean();
    }
    const bool met = shared > kMet * std::min(all[0].count, all[1].count);
    if (!met) {
      out.hidden += found.unrelated;
      out.hidden_same += all[0].mean();
      out.hidden_cross += all[1].mean();
      continue;
    }
    out.shared += shared;
    out.unrelated += found.unrelated;
    out.same += same / shared;
    out.cross += cross / shared;
    for (std::size_t k = 0; k < kBlocks; ++k) {
      double step = 0;
      double w = 0;
      for (const auto& bin : found.sums[k]) {
        const double both = std::min(bin[0].count, bin[1].count);
        if (both < 1) continue;
        step += both * (bin[1].mean() - bin[0].mean());
        w += both;
      }
      if (w < kLeastInBlock) continue;
      steps[k] += step / w;
      known[k] += 1;
    }
  }
  double sum = 0;
  double squares = 0;
  double blocks = 0;
  for (std::size_t k = 0; k < kBlocks; ++k) {
    if (known[k] < 1) continue;
    sum += steps[k];
    squares += steps[k] * steps[k];
    blocks += 1;
  }
  if (blocks < 3) return out;
  const double mean = sum / blocks;
  const double spread = std::max(1e-12 * out.unrelated * out.unrelated, squares / blocks - mean * mean);
  out.z = mean / std::sqrt(spread / (blocks - 1));
  return out;
}

PartPairs compare_parts(const Samples& samples, const Band& band, double period_s, int parts,
                        const Span& span) {
  const double part_s = period_s / parts;
  std::vector<Events> columns;
  std::vector<double> updates;
  int reach = 2 * parts;
  if (part_s >= kFine * span.update_s) {
    const double step = period_s / kSteps;
    const Series& found = band.readings;
    const double end_s = found.begin_s + static_cast<double>(found.size) * found.step_s;
    Series level = resample(samples, found.begin_s, end_s, step, found.which);
    scale(level, band.factors);
    level = high_pass(smooth(level, part_s / kDetail), 2 * period_s);
    for (const auto& column : level.columns) {
      Events events;
      for (std::size_t i = 0; i < level.size; ++i)
        events.at_s.push_back(level.begin_s + (static_cast<double>(i) + 0.5) * step);
      events.value = column;
      columns.push_back(std::move(events));
      updates.push_back(kOneBin * step);  // on a grid all phases are alike
    }
  } else {
    reach = std::max(kReach / parts, 2) * parts;
    columns = events_of(samples, band.readings, band.factors, 2 * period_s, kEvents);
    for (const Column which : band.readings.which) {
      // A utilisation has its own grid; values that stay much longer are plateaus.
      const double hold = samples.hold_s(which).value_or(0);
      updates.push_back(hold > part_s / 4 ? span.update_s : std::max(hold, span.reading_s));
    }
  }
  const PartPairs near = compare_parts(columns, updates, period_s, parts, 2 * parts);
  // Most parts asked about are nowhere near it: no need to look far.
  if (reach <= 2 * parts || (near.shared > kLeastShared && near.explained() < 0)) return near;
  const PartPairs far = compare_parts(columns, updates, period_s, parts, reach);
  // Cycles that jitter have nothing in common far away.
  return far.same < kLost * far.unrelated ? far : near;
}

namespace {

/// What tells the parts from each other, over the noise, times the updates in eight periods.
double evidence_of(const PartPairs& pairs, double period_s, int parts, const Span& span) {
  const bool fine = period_s / parts >= kFine * span.update_s;
  return pairs.same > 0 ? (pairs.cross / pairs.same - 1) * 8 * (fine ? kSteps : period_s / span.update_s) : 0;
}

bool longer_is_it(const PartPairs& pairs, double evidence) {
  return pairs.z > kLongerZ && evidence > kLongerEvidence && pairs.explained() < kLongerExplained &&
         pairs.shared > kLeastShared && pairs.same < kLongerSame * pairs.unrelated;
}

bool part_is_it(const PartPairs& pairs, double evidence, int parts, bool few_updates) {
  if (pairs.shared <= kLeastShared || pairs.cross >= kPartCross * pairs.unrelated) return false;
  const double worse = pairs.hidden_cross - pairs.hidden_same;
  const double one_odd = static_cast<double>(parts - 2) / parts;
  if (few_updates && pairs.explained() > std::max(kFewExplained, one_odd + kFewMargin) &&
      worse <= kFewHiddenWorse * pairs.hidden)
    return true;
  return pairs.explained() > kPartExplained && (pairs.z < kPartZ || evidence < kPartEvidence) &&
         worse <= kHiddenWorse * pairs.hidden;
}

}  // namespace

double settled_period(const Samples& samples, const Band& band, double period_s, const Span& span) {
  double longest = period_s;
  for (const int times : {2, 3, 2}) {
    const double whole = times * longest;
    if (span.end_s - span.begin_s < kLongerCycles * whole) continue;
    const PartPairs pairs = compare_parts(samples, band, whole, times, span);
    if (longer_is_it(pairs, evidence_of(pairs, whole, times, span))) longest = whole;
  }
  if (longest > period_s) return longest;
  for (const int parts : {2, 3, 5, 7}) {
    for (;;) {
      const double part = period_s / parts;
      if (part < kPartUpdates * span.update_s) break;
      const PartPairs pairs = compare_parts(samples, band, period_s, parts, span);
      if (!part_is_it(pairs, evidence_of(pairs, period_s, parts, span), parts,
                      part < kFewUpdates * span.update_s))
        break;
      period_s = part;
    }
  }
  return period_s;
}

Followed in_parts(Followed followed, int parts) {
  if (parts < 2) return followed;
  std::vector<Cycle> cycles;
  for (const Cycle& cycle : followed.cycles) {
    const double length = cycle.length_s() / parts;
    for (int k = 0; k < parts; ++k)
      cycles.push_back(
          {cycle.begin_s + k * length, k + 1 == parts ? cycle.end_s : cycle.begin_s + (k + 1) * length});
  }
  followed.cycles = std::move(cycles);
  return followed;
}

}  // namespace rubato::progress
