// Items 8 to 11: heat, firmware plateaus, the best cap for decoding, memory clocks.
#include <cmath>

#include "sim_facts/numbers.h"
#include "sim_facts/page.h"
#include "sim_facts/runs.h"

namespace rubato::facts {
namespace {

void print_heat() {
  // The same kernel at one clock, cool and hot, by the temperature of the room.
  const auto watts_at = [](double ambient) {
    const std::vector<std::string> one{"a100-pcie-80gb"};
    auto world = device::sim::SimWorld::create_private(
                     one, {.temperature = Celsius(ambient), .ambient = Celsius(ambient)})
                     .value();
    const Program p = program("stream");
    const TimePoint begin;
    const auto context = world->add_context(0, 1, 0, p.segments, begin).value();
    for (int i = 0; i < 8; ++i) static_cast<void>(world->submit(0, context, 1.0, begin));
    const auto truth = world->truth(0, begin + Seconds(0.5)).value();
    return std::pair(truth.temperature.value(), truth.power.value());
  };
  const auto [cool, less] = watts_at(50);
  const auto [hot, more] = watts_at(75);
  print_section("8. A warm board draws more", "",
                {{"one stream kernel at one clock", "0.9 W/C between 55.7 and 76.8 C (250 W class board)",
                  number((more - less) / (hot - cool), 2) + " W/C between " + number(cool) + " and " +
                      number(hot) + " C (A100 PCIe)",
                  kBuiltIn}});
}

void print_plateaus() {
  const Program decode = program("stream");
  const Cost at_450 = steady("rtx4090", decode, {.limit = Watts(450)});
  const Cost at_400 = steady("rtx4090", decode, {.limit = Watts(400)});
  const Profile& v100 = board("v100-pcie-16gb");
  const Program gemm = program("gemm");
  const double low = steady(v100.name, gemm, {.sm = nearest(v100.sm_clocks, 240)}).seconds;
  const double high = steady(v100.name, gemm, {.sm = nearest(v100.sm_clocks, 465)}).seconds;
  print_section(
      "9. Firmware plateaus", "",
      {{"RTX 4090, decoding, caps of 400 and 450 W", "no difference; 392 to 395 W drawn",
        number(at_400.shown_watts) + " and " + number(at_450.shown_watts) +
            " W drawn (stream), time differs by " + percent(std::abs(at_450.seconds / at_400.seconds - 1.0)),
        judged(std::abs(at_450.seconds / at_400.seconds - 1.0) < 0.005, "no difference in time") + ", " +
            judged(std::abs(at_450.shown_watts - 393.0) <= 40.0, "power within 10 %")},
       {"V100, requests of 240 and 465 MHz", "identical time",
        "times differ by " + percent(std::abs(low / high - 1.0)), kBuiltIn},
       {"RTX 5090, caps below 400 W", "refused",
        "no such profile; every profile refuses caps below its lowest", "not compared"}});
}

double best_cap_share(const std::string& name) {
  const Profile& p = board(name);
  double best = 0.0;
  double share = 0.0;
  for (const double watts : steps(p.limit_min.value(), p.limit_default.value(), 5.0)) {
    const double joules = steady(name, program("stream"), {.limit = Watts(watts)}).joules;
    if (best != 0.0 && joules >= best) continue;
    best = joules;
    share = watts / p.limit_default.value();
  }
  return share;
}

void print_decode() {
  std::string text;
  bool inside = true;
  for (const char* name : {"rtxa4000", "rtx3090", "rtx4090"}) {
    const double share = best_cap_share(name);
    inside = inside && share >= 0.38 && share <= 0.77;
    text += std::string(text.empty() ? "" : ", ") + name + " " + number(share, 2);
  }
  print_section(
      "10. The best cap for decoding",
      "Decoding is bandwidth-bound; simulated: stream. The memory power of the RTX 3090 and 4090 comes from "
      "item 7.",
      {{"cap of least energy, as a share of the default",
        "0.38 to 0.77 (RTX 4000 Ada 0.69 to 0.77, RTX 5000 Ada 0.56 to 0.68, an RTX 6000 0.32 to 0.55)", text,
        judged(inside, "all in 0.38 to 0.77")}});
}

void print_memory_clock() {
  const std::string name = "rtx3090";
  const Profile& p = board(name);
  const Program decode = program("stream");
  const Cost found = steady(name, decode, {});
  struct Best {
    Cost cost;
    double sm = 0.0;
  };
  const auto best_at = [&](double memory) {
    Best best;
    for (const double f : steps(p.sm_clocks.front().value(), p.sm_clocks.back().value(), 60.0)) {
      const Megahertz sm = nearest(p.sm_clocks, f);
      const Cost c = steady(name, decode, {.sm = sm, .memory = Megahertz(memory)});
      if (best.sm == 0.0 || c.joules < best.cost.joules) best = {c, sm.value()};
    }
    return best;
  };
  const auto text = [&](const Best& b, double memory) {
    return "SM " + number(b.sm) + ", memory " + number(memory) + ": " +
           percent(1.0 - b.cost.joules / found.joules) + " saved at " +
           change(b.cost.seconds / found.seconds - 1.0);
  };
  const Best full = best_at(9501);
  const Best half = best_at(5001);
  const Best least = best_at(810);
  print_section("11. The memory clock", "Measured on an RTX 5090 decoding; simulated: stream on an RTX 3090.",
                {{"highest memory clock", "SM 2602, memory 14001: 16.1 % saved at +12.4 %", text(full, 9501),
                  judged(full.cost.joules < found.joules, "saves")},
                 {"about half of it", "SM 1635, memory 7001: 28.9 % saved at +88 %", text(half, 5001),
                  judged(half.cost.joules < full.cost.joules, "saves more than the highest")},
                 {"far below", "never useful", text(least, 810),
                  judged(least.cost.joules > half.cost.joules, "costs more than at half")}});
}

}  // namespace

void print_boards() {
  print_heat();
  print_plateaus();
  print_decode();
  print_memory_clock();
}

}  // namespace rubato::facts
