#include "analyse/parts_sum.h"

#include <algorithm>
#include <span>

namespace rubato::analyse {
namespace {

struct Share {
  const Piece* piece;
  TimePoint begin;  // as far as the source tells of it
  TimePoint end;
  [[nodiscard]] Seconds length() const { return end - begin; }
};

struct Reach {
  TimePoint begin;
  TimePoint end;
};

// What the record's own figure covers, as far as there are readings.
Reach reach_of(const EnergySource& source, const Timeline& timeline) {
  Reach reach{std::max(timeline.begin, source.curve.begin()), std::min(timeline.end, source.curve.end())};
  if (const auto& whole = source.facts.whole) {
    reach.begin = std::max(reach.begin, whole->begin);
    reach.end = std::min(reach.end, whole->end);
  }
  return reach;
}

SplitEnergy& cell(std::vector<Part>& rows, const Share& share, std::size_t column) {
  return std::ranges::find(rows, share.piece->label, &Part::label)->energy[column];
}

// By time, whatever the group took together.
void apportion(const EnergySource& source, std::span<const Share> group, std::size_t column,
               std::vector<Part>& rows) {
  const auto together = source.curve.between(group.front().begin, group.back().end);
  if (!together) return;
  const Seconds length = group.back().end - group.front().begin;
  for (const Share& share : group) {
    const double part = share.length() / length;
    CurveEnergy energy = together->scaled(part);
    if (const auto inside = source.curve.between(share.begin, share.end))
      energy.band_sampling =
          std::max(energy.band_sampling, abs(inside->energy - energy.energy) + inside->band_sampling);
    add(cell(rows, share, column).apportioned, figure_of(source, energy, true));
  }
}

// Groups of neighbouring short pieces, each long enough to be measured as a whole where they suffice for one.
void apportion_all(const EnergySource& source, std::span<const Share> run_of_short, std::size_t column,
                   std::vector<Part>& rows) {
  while (!run_of_short.empty()) {
    std::size_t n = 1;
    while (n < run_of_short.size() &&
           !long_enough(source, run_of_short[n - 1].end - run_of_short.front().begin))
      ++n;
    if (n < run_of_short.size() && !long_enough(source, run_of_short.back().end - run_of_short[n].begin))
      n = run_of_short.size();
    apportion(source, run_of_short.first(n), column, rows);
    run_of_short = run_of_short.subspan(n);
  }
}

/// Gives `rest` to what lies at an edge of the run; false where nothing does, or it would become less than
/// nothing.
bool settle(Joules rest, Joules band, std::size_t column, std::vector<Part>& rows) {
  for (const std::string_view edge : {kEnd, kStartUp}) {
    const auto row = std::ranges::find(rows, edge, &Part::label);
    if (row == rows.end()) continue;
    SplitEnergy& energy = row->energy[column];
    std::optional<Figure>& figure = energy.measured ? energy.measured : energy.apportioned;
    if (!figure || figure->energy + rest < Joules(0)) continue;
    figure->energy += rest;
    figure->band_sampling = std::max(figure->band_sampling, band);
    return true;
  }
  return false;
}

void add_up(std::optional<Joules>& sum, const std::optional<Figure>& part) {
  if (part) sum = sum.value_or(Joules(0)) + part->energy;
}

}  // namespace

std::vector<Part> rows_of(const std::vector<Piece>& pieces, std::size_t sources) {
  std::vector<Part> rows;
  for (const Piece& piece : pieces) {
    auto row = std::ranges::find(rows, piece.label, &Part::label);
    if (row == rows.end()) {
      row = rows.insert(rows.end(), {.label = piece.label, .times = 0, .time = {}, .energy = {}});
      row->energy.resize(sources);
    }
    ++row->times;
    row->time += piece.end - piece.begin;
  }
  return rows;
}

Balance balance_of(const std::vector<Piece>& pieces, const Timeline& timeline, const EnergySource& source,
                   std::size_t column, std::vector<Part>& rows) {
  Balance balance;
  if (const auto& whole = source.facts.whole) {
    balance.run = whole->energy;
    balance.band_sampling = whole->band_sampling;
  }
  if (source.curve.empty()) return balance;
  const Reach reach = reach_of(source, timeline);
  if (!balance.run)
    if (const auto all = source.curve.between(reach.begin, reach.end)) {
      balance.run = all->energy;
      balance.band_sampling = all->band_sampling;
    }
  std::vector<Share> shares;
  for (const Piece& piece : pieces) {
    const Share share{&piece, std::max(piece.begin, reach.begin), std::min(piece.end, reach.end)};
    if (share.begin < share.end) shares.push_back(share);
  }
  const std::span<const Share> all(shares);
  std::size_t i = 0;
  while (i < all.size()) {
    if (long_enough(source, all[i].length())) {
      if (const auto energy = source.curve.between(all[i].begin, all[i].end))
        add(cell(rows, all[i], column).measured, figure_of(source, *energy, false));
      ++i;
      continue;
    }
    std::size_t n = i;
    while (n < all.size() && !long_enough(source, all[n].length())) ++n;
    apportion_all(source, all.subspan(i, n - i), column, rows);
    i = n;
  }
  for (const Share& share : shares) balance.time += share.length();
  const auto sum = [&] {
    balance.measured = balance.apportioned = std::nullopt;
    for (const Part& row : rows) {
      add_up(balance.measured, row.energy[column].measured);
      add_up(balance.apportioned, row.energy[column].apportioned);
    }
    if (balance.run)
      balance.residual =
          *balance.run - balance.measured.value_or(Joules(0)) - balance.apportioned.value_or(Joules(0));
  };
  sum();
  if (balance.residual && abs(*balance.residual) <= balance.band_sampling &&
      settle(*balance.residual, balance.band_sampling, column, rows)) {
    balance.settled = balance.residual;
    sum();
  }
  return balance;
}

}  // namespace rubato::analyse
