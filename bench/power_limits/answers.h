// What a table of power limits answers: the best limit, and what it saves, under a bound and a host.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "core/sweep_table.h"

namespace rubato::limits {

/// Everything over the default's.
struct Row {
  Watts limit;
  double time = 1;
  double energy = 1;
};

struct Workload {
  std::string name;
  std::vector<Row> rows;   // by limit, falling; the first is the default
  Watts board_at_default;  // mean power
};

struct Board {
  std::string name;
  std::string source;  // "measured: FILE", "modelled: PROFILE"
  Watts highest;
  std::vector<Workload> workloads;
};

[[nodiscard]] Result<Board> board_of(const SweepTable& table, std::string source);

struct Question {
  bool edp = false;
  std::optional<double> bound;  // of the slowdown; nothing: none
  Watts host;
};

struct Answer {
  std::vector<double> saved;   // per workload, at its own best limit
  std::vector<double> slower;  // there
  std::vector<Watts> limit;    // there
  // One limit for all workloads: of those that break the bound for nobody, the one that saves most on
  // average.
  Watts one_limit;
  double one_saved = 0;
  double one_worst_slowdown = 0;
};

[[nodiscard]] Answer answer(const Board& board, const Question& question);

/// Means over all workloads that have the limit, at that one; nothing where none has.
struct AtLimit {
  double energy_saved = 0;
  double edp_saved = 0;
  double slower = 0;
};
[[nodiscard]] std::optional<AtLimit> at_limit(const Board& board, Watts limit);

/// At the best limit for energy of the board alone: median over workloads of the host watts at which nothing
/// is left of the saving. Workloads whose best limit costs no time are left out; nothing where all are.
[[nodiscard]] std::optional<Watts> vanishing_host(const Board& board, std::optional<double> bound);

/// Of mean power over the highest limit at the default, and what is saved (Spearman's rank correlation).
[[nodiscard]] double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace rubato::limits
