#include "power_limits/answers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/text.h"
#include "core/sweep_workloads.h"
#include "sim_facts/numbers.h"

namespace rubato::limits {
namespace {

// Over the default's; the host draws all the time.
double objective(const Workload& workload, const Row& row, const Question& question) {
  const double board = workload.board_at_default.value();
  const double host = question.host.value();
  const double energy = (board * row.energy + host * row.time) / (board + host);
  return question.edp ? energy * row.time : energy;
}

bool inside(const Row& row, const Question& question) {
  return !question.bound || row.time <= 1 + *question.bound;
}

const Row& best(const Workload& workload, const Question& question) {
  const Row* out = &workload.rows.front();
  for (const Row& row : workload.rows)
    if (inside(row, question) && objective(workload, row, question) < objective(workload, *out, question))
      out = &row;
  return *out;
}

const Row* at(const Workload& workload, Watts limit) {
  const auto found = std::find_if(workload.rows.begin(), workload.rows.end(),
                                  [&](const Row& row) { return row.limit == limit; });
  return found == workload.rows.end() ? nullptr : &*found;
}

void one_for_all(const Board& board, const Question& question, Answer& out) {
  out.one_limit = board.workloads.front().rows.front().limit;
  for (const Row& candidate : board.workloads.front().rows) {
    double saved = 0;
    double worst = 0;
    bool fits = true;
    for (const Workload& workload : board.workloads) {
      const Row* row = at(workload, candidate.limit);
      fits = fits && row != nullptr && inside(*row, question);
      if (!fits) break;
      saved += (1 - objective(workload, *row, question)) / static_cast<double>(board.workloads.size());
      worst = std::max(worst, row->time - 1);
    }
    if (!fits || saved <= out.one_saved) continue;
    out.one_limit = candidate.limit;
    out.one_saved = saved;
    out.one_worst_slowdown = worst;
  }
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> out(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (std::size_t k = i; k < end; ++k)
      out[order[k]] = (static_cast<double>(i) + static_cast<double>(end - 1)) / 2;
    i = end;
  }
  return out;
}

}  // namespace

Result<Board> board_of(const SweepTable& table, std::string source) {
  const auto workloads = workloads_of(table);
  if (!workloads) return fail(workloads.error());
  Board out{.name = {}, .source = std::move(source), .highest = {}, .workloads = {}};
  for (const std::size_t i : workloads_distinct(table, *workloads)) {
    const SweepWorkload& w = (*workloads)[i];
    const SweepRow& by_default = table.rows[w.default_row];
    Workload workload{
        .name = w.workload, .rows = {}, .board_at_default = by_default.energy / by_default.time};
    for (const std::size_t r : w.rows) {
      const SweepRow& row = table.rows[r];
      if (!row.power_limit)
        return fail(ErrorCode::invalid_argument, cat(table.place(r), "the row has no power limit"));
      workload.rows.push_back({*row.power_limit, row.time / by_default.time, row.energy / by_default.energy});
      out.highest = std::max(out.highest, *row.power_limit);
    }
    std::sort(workload.rows.begin(), workload.rows.end(),
              [](const Row& a, const Row& b) { return a.limit > b.limit; });
    out.name = w.gpu;
    out.workloads.push_back(std::move(workload));
  }
  return out;
}

Answer answer(const Board& board, const Question& question) {
  Answer out;
  for (const Workload& workload : board.workloads) {
    const Row& row = best(workload, question);
    out.saved.push_back(1 - objective(workload, row, question));
    out.slower.push_back(row.time - 1);
    out.limit.push_back(row.limit);
  }
  one_for_all(board, question, out);
  return out;
}

std::optional<AtLimit> at_limit(const Board& board, Watts limit) {
  AtLimit sum;
  double count = 0;
  for (const Workload& workload : board.workloads) {
    const Row* row = at(workload, limit);
    if (row == nullptr) continue;
    ++count;
    sum.energy_saved += 1 - row->energy;
    sum.edp_saved += 1 - row->energy * row->time;
    sum.slower += row->time - 1;
  }
  if (count == 0) return std::nullopt;
  return AtLimit{sum.energy_saved / count, sum.edp_saved / count, sum.slower / count};
}

std::optional<Watts> vanishing_host(const Board& board, std::optional<double> bound) {
  std::vector<double> watts;
  for (const Workload& workload : board.workloads) {
    const Row& row = best(workload, {.edp = false, .bound = bound, .host = Watts(0)});
    if (row.time <= 1 || row.energy >= 1) continue;
    watts.push_back(workload.board_at_default.value() * (1 - row.energy) / (row.time - 1));
  }
  if (watts.empty()) return std::nullopt;
  return Watts(facts::quantile(watts, 0.5));
}

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto x = ranks(a);
  const auto y = ranks(b);
  const double mx = facts::mean(x);
  const double my = facts::mean(y);
  double xy = 0;
  double xx = 0;
  double yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mx) * (y[i] - my);
    xx += (x[i] - mx) * (x[i] - mx);
    yy += (y[i] - my) * (y[i] - my);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

}  // namespace rubato::limits
