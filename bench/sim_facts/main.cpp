// rubato-sim-facts [--data DIR]: the page docs/simulated-gpu.md, made by running the simulator in virtual
// time. rubato-sim-facts --speed: how fast that is.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>

#include "sim_facts/page.h"
#include "sim_facts/runs.h"

namespace {

void print_head() {
  std::fputs(R"(# The simulated GPU against measurements

Made by `rubato-sim-facts --data DIR` (bench/sim_facts), which runs the simulator in virtual time; a test makes it again
and compares. What the simulator is, is in [design.md](design.md); scenario files are in
[formats.md](formats.md#scenario).

Each item says what was measured on real GPUs, what the simulator gives, and whether they agree, by a rule that stands
beside the answer. **built in** means that a profile or workload was made from that very figure: it is no evidence.
Disagreement is printed, not tuned away. After the first version of this page two things were changed: the power of
on-chip transport follows the cores' voltage (the model, no figure), and the memory power of GeForce and Ada boards was
taken from item 7. No figure was fitted to a table below.

## What profiles and workloads were made from

- Data sheets (power, rates, clocks, memory), marked as such in `gpus/*.json`; what was recalled and not read says
  "unverified", what is a guess says "assumption".
- Item 1: the V100's voltage floor at 952 MHz. Data-centre boards take the same share of their highest clock, GeForce
  and workstation boards an assumed one.
- Item 2: the share of each workload's time that follows the clock.
- Item 7: the memory power of GeForce and Ada boards, from 143 W of 250 W that stay whatever the cap.
- Item 8: 0.9 W per degree of leakage for a 250 W board, scaled with power for the others.
- Item 9: requests under 465 MHz are not honoured on a V100.
- Sensors: periods, windows, gains and offsets of Yang, Adamek, Armour (SC24).

## Items
)",
             stdout);
}

void print_speed() {
  using namespace rubato;
  const std::vector<std::string> one{"v100"};
  const auto world = device::sim::SimWorld::create_private(one).value();
  const facts::Program p = facts::program("resnet50");
  TimePoint now;
  const auto context = world->add_context(0, 1, 0, p.segments, now).value();
  const auto begin = std::chrono::steady_clock::now();
  while (now.since_epoch() < Seconds(3600)) {
    while (world->submit(0, context, 1.0, now)) {
    }
    now = now + Seconds(1);
  }
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  std::printf("resnet50 on v100, one hour: %.0f simulated seconds per second\n", 3600.0 / spent.count());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--speed") == 0) {
    print_speed();
    return 0;
  }
  std::string data;
  if (argc == 3 && std::strcmp(argv[1], "--data") == 0) data = argv[2];
  if (argc != 1 && data.empty()) {
    std::fprintf(stderr, "usage: rubato-sim-facts [--data DIR | --speed]\n");
    return 125;
  }
  print_head();
  rubato::facts::print_time_and_power();
  rubato::facts::print_caps();
  rubato::facts::print_boards();
  rubato::facts::print_prediction();
  rubato::facts::print_tables(data);
  return 0;
}
