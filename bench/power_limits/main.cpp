// rubato-power-limits [--data DIR]: the page docs/evidence/power-limits.md. Without DIR the modelled boards
// alone.
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "core/sweep_table_csv.h"
#include "power_limits/modelled.h"
#include "power_limits/page.h"

namespace {

using namespace rubato;

bool add(std::vector<limits::Board>& boards, const Result<SweepTable>& table, const std::string& source) {
  auto board = table ? limits::board_of(*table, source) : Result<limits::Board>(fail(table.error()));
  if (!board) {
    std::fprintf(stderr, "%s\n", board.error().what.c_str());
    return false;
  }
  boards.push_back(std::move(*board));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const bool with_data = argc == 3 && std::strcmp(argv[1], "--data") == 0;
  if (argc != 1 && !with_data) {
    std::fprintf(stderr, "usage: rubato-power-limits [--data DIR]\n");
    return 125;
  }
  // A share of a server with several GPUs, without them.
  constexpr Watts kHost{100};
  std::vector<limits::Board> boards;
  for (const char* name : {"v100", "p100"}) {
    if (!with_data) break;
    const std::string file = std::string(name) + "-power-limit-training.csv";
    if (!add(boards, read_sweep_table(std::filesystem::path(argv[2]) / "tables" / file), "Measured: " + file))
      return 1;
  }
  struct Modelled {
    const char* profile = nullptr;
    Watts step;
  };
  for (const Modelled& m : {Modelled{"t4", Watts(1)}, Modelled{"k80", Watts(7)}})
    if (!add(boards, limits::modelled(m.profile, m.step),
             std::string("Modelled: gpus/") + m.profile + ".json, in steps of " +
                 std::to_string(static_cast<int>(m.step.value())) + " W"))
      return 1;
  limits::print_page(boards, kHost);
  return 0;
}
