#include "power_limits/page.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "base/text.h"
#include "sim_facts/numbers.h"

namespace rubato::limits {
namespace {

using facts::percent;

constexpr const char* kHead = R"(# What a power limit saves

Made by `rubato-power-limits --data DIR` (bench/power_limits). **Measured** boards are public sweeps (Zeus, NSDI'23: one
epoch of training per row, measured once); **modelled** ones are the simulated GPU by data sheets, with its own list of
workloads ([simulated-gpu.md](../simulated-gpu.md) says where that is right and where it is not). The two are never added up.

- Each workload is judged at the best limit *of its table*, chosen with hindsight: what could be saved, not what a
  program that does not know the answer saves. On rows measured once the best of several is partly luck: of a curve that
  noise of 2 % alone makes, a best row of half a dozen looks some 2 % better than it is.
- **Bound**: that row's time over the default's. A limit is only ever one of the table's steps, never above the default.
  "One limit for all" breaks it for no workload: among dozens of curves one noisy row is enough to rule a limit out.
- **Board + host**: the host draws a constant HOST W per GPU as long as the job runs. That figure is an assumption (a
  share of a server without its GPUs); "host at which nothing is left" says how much it matters: above it, the limit
  that is best for the board loses as a whole (median over workloads that are slowed at all).
- **Use of the board**: mean power at the default over the highest limit. The tables have no utilisation counter.
)";

std::string bound_text(const std::optional<double>& bound) {
  return bound ? percent(*bound, 0) : "none";
}

std::string usual_limit(const Answer& answer) {
  std::map<double, int> count;
  for (const Watts limit : answer.limit) ++count[limit.value()];
  const auto most = std::max_element(count.begin(), count.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return cat(number(most->first, 0), " W (", most->second, " of ", answer.limit.size(), ")");
}

void print_answers(const Board& board, Watts host) {
  std::printf(
      "| objective | counted | bound | saved, mean | of workloads, 10 to 90 %% | slower, mean | limit most "
      "often "
      "best | one limit for all | it saves | its worst slowdown "
      "|\n|---|---|---|---|---|---|---|---|---|---|\n");
  for (const bool edp : {false, true})
    for (const Watts counted : {Watts(0), host})
      for (const std::optional<double> bound :
           {std::optional(0.01), std::optional(0.05), std::optional<double>()}) {
        const Answer a = answer(board, {edp, bound, counted});
        std::printf("| %s | %s | %s | %s | %s to %s | %s | %s | %s W | %s | %s |\n", edp ? "EDP" : "energy",
                    counted.value() > 0 ? "board + host" : "board", bound_text(bound).c_str(),
                    percent(facts::mean(a.saved)).c_str(), percent(facts::quantile(a.saved, 0.1)).c_str(),
                    percent(facts::quantile(a.saved, 0.9)).c_str(), percent(facts::mean(a.slower)).c_str(),
                    usual_limit(a).c_str(), number(a.one_limit.value(), 0).c_str(),
                    percent(a.one_saved).c_str(), percent(a.one_worst_slowdown).c_str());
      }
}

void print_host(const Board& board) {
  std::printf("\nHost at which nothing is left of the energy saved:");
  const char* between = "";
  for (const std::optional<double> bound :
       {std::optional(0.01), std::optional(0.05), std::optional<double>()}) {
    const auto watts = vanishing_host(board, bound);
    std::printf("%s bound %s: %s", between, bound_text(bound).c_str(),
                watts ? cat(number(watts->value(), 0), " W").c_str() : "no workload is slowed");
    between = ";";
  }
  std::printf(".\n");
}

void print_use(const Board& board) {
  std::vector<double> use;
  for (const Workload& workload : board.workloads) use.push_back(workload.board_at_default / board.highest);
  std::vector<std::size_t> order(use.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return use[a] < use[b]; });
  const Answer none = answer(board, {false, {}, Watts(0)});
  const Answer five = answer(board, {false, 0.05, Watts(0)});
  const Answer edp = answer(board, {true, {}, Watts(0)});
  std::printf(
      "\n| use of the board | workloads | energy saved, no bound | slower there | energy saved at 5 %% | EDP "
      "saved, "
      "no bound |\n|---|---|---|---|---|---|\n");
  constexpr std::size_t kParts = 3;
  for (std::size_t part = 0; part < kParts; ++part) {
    const std::size_t begin = order.size() * part / kParts;
    const std::size_t end = order.size() * (part + 1) / kParts;
    if (begin == end) continue;
    const auto mean_of = [&](const std::vector<double>& values) {
      std::vector<double> chosen;
      for (std::size_t k = begin; k < end; ++k) chosen.push_back(values[order[k]]);
      return percent(facts::mean(chosen));
    };
    std::printf("| %s to %s | %zu | %s | %s | %s | %s |\n", percent(use[order[begin]], 0).c_str(),
                percent(use[order[end - 1]], 0).c_str(), end - begin, mean_of(none.saved).c_str(),
                mean_of(none.slower).c_str(), mean_of(five.saved).c_str(), mean_of(edp.saved).c_str());
  }
  std::printf(
      "\nRank correlation of use with what is saved: energy without a bound %s, energy at 5 %% %s, EDP "
      "without a bound "
      "%s.\n",
      number(rank_correlation(use, none.saved), 2).c_str(),
      number(rank_correlation(use, five.saved), 2).c_str(),
      number(rank_correlation(use, edp.saved), 2).c_str());
}

void print_short(const std::vector<Board>& boards, Watts host) {
  std::printf(
      "\n## In short\n\nMean saved, each workload at its best limit: bound of 1 %% / 5 %% / none.\n\n"
      "| board | | energy, board | energy, board + host | EDP, board | EDP, board + host |\n"
      "|---|---|---|---|---|---|\n");
  for (const Board& board : boards) {
    std::printf("| %s | %s ", board.name.c_str(), board.source.substr(0, board.source.find(':')).c_str());
    for (const bool edp : {false, true})
      for (const Watts counted : {Watts(0), host}) {
        std::string cell;
        for (const std::optional<double> bound :
             {std::optional(0.01), std::optional(0.05), std::optional<double>()})
          cell += cat(cell.empty() ? "" : " / ",
                      percent(facts::mean(answer(board, {edp, bound, counted}).saved)));
        std::printf("| %s ", cell.c_str());
      }
    std::printf("|\n");
  }
  std::printf(
      "\nThe question is that of a thesis (gpyjoules, Grzelka 2021), whose abstract says: 30 %% of the "
      "energy "
      "saved at 150 W on a V100, 14 %% of its EDP, and about 8 %% on T4 and K80.");
  for (const Board& board : boards) {
    const auto there = at_limit(board, Watts(150));
    if (!there || board.name != "V100") continue;
    std::printf(
        " In the V100 table below, 150 W for every workload saves %s of the energy and %s of the EDP, at %s "
        "more "
        "time.",
        percent(there->energy_saved).c_str(), percent(there->edp_saved).c_str(),
        percent(there->slower).c_str());
  }
  std::printf("\n");
}

}  // namespace

void print_page(const std::vector<Board>& boards, Watts host) {
  std::string head = kHead;
  const std::string mark = "HOST";
  head.replace(head.find(mark), mark.size(), number(host.value(), 0));
  std::fputs(head.c_str(), stdout);
  print_short(boards, host);
  for (const Board& board : boards) {
    std::printf("\n## %s\n\n%s; %zu distinct workloads, default %s W.\n\n", board.name.c_str(),
                board.source.c_str(), board.workloads.size(),
                number(board.workloads.front().rows.front().limit.value(), 0).c_str());
    print_answers(board, host);
    print_host(board);
    print_use(board);
  }
}

}  // namespace rubato::limits
