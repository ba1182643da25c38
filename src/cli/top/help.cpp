#include "base/text.h"
#include "cli/top/draw.h"
#include "report/format.h"

namespace rubato::cli::top {
namespace {

std::string own_use(const OwnUse& own) {
  if (own.wall <= Seconds(0)) return "nothing yet";
  const auto share = [&own](Seconds part) { return report::percent(part / own.wall); };
  return cat(share(own.cpu), " of a core so far, of it ", share(own.driver.inside),
             " inside the driver's library (", own.driver.calls, " calls)");
}

}  // namespace

std::vector<std::string> help_lines(const State& state) {
  return {
      "q, Ctrl-C: quit. Ctrl-Z: suspend. Ctrl-L: draw all anew.",
      cat("Tab, left, right: another part (GPUs, runs, processes). Up, down, j, k, Page Up, Page Down, "
          "Home, ",
          "End: select."),
      "s: sort GPUs by index, power, busy or temperature; processes by GPU, memory or id.",
      "Space, f: freeze what is shown, and go on. h, ?: this page.",
      "",
      cat("POWER: of the board. ASKED, ENFORCED: the power limit that was asked for, and the one in force; "
          "a ",
          "lower one in force comes from outside or from heat. BUSY: share of time with a kernel on the "
          "GPU, ",
          "which is not how fast it works. LIMITED BY: what holds the SM clock below its highest."),
      cat("SAVED, SLOWER: energy and time of the run so far against its own baseline, search included, each ",
          "with half of its 90 % interval. Before four blocks at the found setting were measured there are "
          "none."),
      "A - could not be read, or is not known yet. Nothing is set from here.",
      "",
      cat("rubato top takes ", own_use(state.own), ".")};
}

}  // namespace rubato::cli::top
