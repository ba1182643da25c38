// Items 4 to 7: power limits against clock locks, and where limits do nothing, fall off a cliff or are
// broken.
#include <cmath>

#include "sim_facts/numbers.h"
#include "sim_facts/page.h"
#include "sim_facts/runs.h"

namespace rubato::facts {
namespace {

const std::string kA100 = "a100-pcie-80gb";
const std::string kAda = "rtx4090";

struct Trade {
  double saved = 0.0;
  double slower = 0.0;
};

Trade trade(const Program& p, const Knobs& knobs) {
  const Cost found = steady(kA100, p, {});
  const Cost set = steady(kA100, p, knobs);
  return {1.0 - set.joules / found.joules, set.seconds / found.seconds - 1.0};
}

std::string text(const Trade& t) {
  return percent(t.saved) + " saved at " + change(t.slower);
}

Row trade_row(const std::string& what, const std::string& workload, const Knobs& knobs, Trade measured) {
  const Trade t = trade(program(workload), knobs);
  const bool agrees =
      std::abs(t.saved - measured.saved) <= 0.05 && std::abs(t.slower - measured.slower) <= 0.05;
  return {what, text(measured), text(t), judged(agrees, "both within 5 points")};
}

void print_lock_against_cap() {
  const Knobs lock{.sm = Megahertz(1005)};
  const Knobs cap{.limit = Watts(150)};
  int better = 0;
  int biting = 0;
  for (const Program& p : all_programs()) {
    const Trade capped = trade(p, cap);
    // Work that neither all compute nor all memory decides, under a cap that bites deep.
    if (p.name == "gemm" || p.name == "stream" || capped.slower < 0.05) continue;
    ++biting;
    better += trade(p, lock).saved >= capped.saved && trade(p, lock).slower <= capped.slower ? 1 : 0;
  }
  print_section(
      "4. A clock lock beats a cap at deep settings",
      "A100 PCIe, found at 1410 MHz and 300 W. In the simulator a cap and a lock that end at the same clock "
      "cost the same; "
      "the measured limiter costs more than that.",
      {trade_row("lock 1005 MHz: pi-solver, compute only; simulated: gemm", "gemm", lock, {0.369, 0.381}),
       trade_row("cap 150 W: the same", "gemm", cap, {0.348, 0.297}),
       trade_row("lock 1005 MHz: BabelStream, bandwidth-bound; simulated: stream", "stream", lock,
                 {0.364, -0.001}),
       trade_row("cap 150 W: the same", "stream", cap, {0.345, 0.021}),
       {"mixed work: lock 1005 MHz against cap 150 W",
        "Breeze 29.5 % at +27.3 % against 25.1 % at +47.7 %, WaterLily 25.5 % at +26.0 % against 17.3 % at "
        "+61.1 %",
        "the lock saves more and costs less time for " + std::to_string(better) + " of " +
            std::to_string(biting) + " mixed workloads that the cap slows by 5 % or more",
        judged(biting > 0 && better == biting, "for all of them")}});
}

void print_inert_caps() {
  const Program stream = program("stream");
  const Cost free = steady(kA100, stream, {});
  double worst = 0.0;
  for (const int watts : {250, 275})
    worst = std::max(worst,
                     std::abs(steady(kA100, stream, {.limit = Watts(watts)}).seconds / free.seconds - 1.0));
  print_section("5. A cap does nothing until it bites",
                "A100 PCIe, bandwidth-bound work; power as the board's own sensor shows it.",
                {{"power at the found 300 W", "228 W (BabelStream)", number(free.shown_watts) + " W (stream)",
                  within(free.shown_watts, 228, 23, "10 %")},
                 {"caps of 250 to 300 W", "change nothing", "time changes by " + percent(worst),
                  judged(worst < 0.001, "under 0.1 %")}});
}

/// `flops_per_byte` of a board whose compute and bandwidth balance at `balance`, at its own reference clocks.
Program intensity(const std::string& name, double flops_per_byte) {
  // RTX 5000 Ada, from memory of its data sheet: 65.3 TFLOPS single precision over 576 GB/s.
  constexpr double kBalance = 113.0;
  const Profile& p = board(name);
  const double memory = 0.2 * p.memory_rate;
  return {"intensity " + number(flops_per_byte),
          {{.compute_s = flops_per_byte / kBalance * 0.2 * p.compute_rate,
            .memory_s = memory,
            .fixed_s = 0.001,
            .compute_activity = 1.0,
            .memory_activity = 1.0}}};
}

struct Cliff {
  double cap = 0.0;  // after the fall, share of the default
  double before = 0.0;
  double after = 0.0;  // clocks
  double slower_before = 0.0;
  double slower_after = 0.0;
};

Cliff cliff(const std::string& name, const Program& p) {
  const Profile& profile = board(name);
  const double full = profile.limit_default.value();
  const double free_seconds = steady(name, p, {}).seconds;
  Cliff worst;
  std::optional<Cost> previous;
  for (double share = 1.0; share * full >= profile.limit_min.value(); share -= 0.04) {
    const Cost now = steady(name, p, {.limit = Watts(std::round(share * full))});
    if (previous && (worst.before == 0.0 || now.sm_mhz / previous->sm_mhz < worst.after / worst.before))
      worst = {share, previous->sm_mhz, now.sm_mhz, previous->seconds / free_seconds - 1.0,
               now.seconds / free_seconds - 1.0};
    previous = now;
  }
  return worst;
}

Row cliff_row(const std::string& name, double flops_per_byte, const std::string& measured) {
  const Cliff c = cliff(name, intensity(name, flops_per_byte));
  return {"largest fall of the clock for one step, " + number(flops_per_byte) + " FLOP/B, " + name, measured,
          number(c.before) + " to " + number(c.after) + " MHz at " + percent(c.cap, 0) +
              " of the default cap, time " + change(c.slower_before) + " to " + change(c.slower_after),
          judged(c.after <= 0.6 * c.before, "the clock falls by 40 % or more")};
}

void print_cliff() {
  const Program thirty = intensity(kAda, 30);
  const Cost deep = steady(kAda, thirty, {.limit = Watts(std::round(0.4 * 450))});
  const Cost free = steady(kAda, thirty, {});
  print_section(
      "6. The limiter has a cliff for bandwidth-bound work",
      "Measured on an RTX 5000 Ada (250 W, steps of 10 W); simulated on an RTX 4090 (450 W) in steps of the "
      "same "
      "share, 4 % of the default cap. The level of the RTX 4090's memory power comes from item 7; nothing in "
      "a profile makes the cliff: below the voltage floor the "
      "power of "
      "bandwidth-bound work hardly depends on the clock, so a small step of the cap moves the clock far.",
      {cliff_row(kAda, 10, "2013 to 828 MHz at 60 %, time +0.4 % to +3.4 %"),
       cliff_row(kAda, 30, "1807 to 893 MHz at 72 %, time +0.7 % to +8.3 %"),
       cliff_row(kA100, 10, "the same"),
       cliff_row(kA100, 30, "the same"),
       {"cap at 40 % of the default, 30 FLOP/B", "time +294 %, energy +64 %",
        "time " + change(deep.seconds / free.seconds - 1.0) + ", energy " +
            change(deep.joules / free.joules - 1.0),
        judged(deep.joules > free.joules, "energy rises")}});
}

void print_broken_caps() {
  const Program copy = intensity(kAda, 0);
  const double cap = 0.4 * 450;
  const Cost at = steady(kAda, copy, {.limit = Watts(cap)});
  const Profile& a100 = board(kA100);
  const Cost floor = steady(kA100, program("stream"), {.limit = a100.limit_min});
  print_section("7. Caps can be broken", "Power as the board's own sensor shows it.",
                {{"0 FLOP/B, cap at 40 % of the default", "143 W drawn under 100 W (RTX 5000 Ada)",
                  number(at.shown_watts) + " W drawn under " + number(cap) + " W at " + number(at.sm_mhz) +
                      " MHz (RTX 4090)",
                  kBuiltIn + ": the board's memory power was made from this"},
                 {"bandwidth-bound work at the lowest cap the board takes",
                  "41 to 46 W drawn under 30 W, at 210 MHz (RTX 4000 Ada)",
                  number(floor.shown_watts) + " W drawn under " + number(a100.limit_min.value()) + " W, at " +
                      number(floor.sm_mhz) + " MHz (A100 PCIe)",
                  judged(floor.shown_watts > 1.02 * a100.limit_min.value(), "more drawn than allowed")}});
}

}  // namespace

void print_caps() {
  print_lock_against_cap();
  print_inert_caps();
  print_cliff();
  print_broken_caps();
}

}  // namespace rubato::facts
