#include "progress/kernels/jobs.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "progress/kernels/job_writer.h"

namespace rubato::progress::kernels {
namespace {

constexpr std::array<std::string_view, kFamilies> kNames = {
    "plain",   "layers",           "micro batches",  "tuning",       "grids vary",       "kernels vary",
    "streams", "unannounced loss", "announced loss", "now and then", "evaluations",      "CUDA graphs",
    "cycles",  "two processes",    "random kernels", "one kernel",   "changing programs"};

void plain(Writer& w) {
  const Program p = network(w).whole();
  w.job.launches = p.size();
  repeat(w, p, w.between(25, 60));
}

void layers(Writer& w) {
  const std::size_t depth = w.between(6, 32);
  const Program p =
      joined({w.program(w.between(2, 8), 900, 6), times(w.program(w.between(6, 20), 1000, 8), depth),
              w.program(w.between(3, 9), 1100, 6), times(w.program(w.between(10, 35), 2000, 10), depth),
              w.program(w.between(2, 30), 3000, 5)});
  w.job.launches = p.size();
  repeat(w, p, w.between(25, 50));
}

void micro_batches(Writer& w) {
  const Network n = network(w, 20, 200);
  constexpr std::array<std::size_t, 6> kCounts = {2, 3, 4, 6, 8, 16};
  const std::size_t count = kCounts[w.random.index(kCounts.size())];
  const Program p = joined({times(joined({n.forward, n.backward}), count), n.step});
  w.job.launches = p.size();
  repeat(w, p, w.between(15, 30));
}

void tuning(Writer& w) {
  const Program p = network(w).whole();
  w.job.launches = p.size();
  const std::size_t first = w.between(1, 3);
  for (std::size_t i = 0; i < first; ++i) {
    w.begin();
    for (const Kernel& k : p) {
      if (w.random.uniform() < 0.15)
        for (std::size_t t = w.between(2, 9); t > 0; --t)
          w.launch(Kernel{.name = 5000 + w.random.index(60), .grid = k.grid, .us = 3 * k.us});
      w.launch(k);
    }
  }
  repeat(w, p, w.between(20, 40));
}

void grids_vary(Writer& w) {
  const Network n = network(w);
  w.job.launches = n.whole().size();
  const std::size_t shapes = w.between(2, 5);
  const bool in_turn = w.random.uniform() < 0.3;
  for (std::size_t i = w.between(30, 60); i > 0; --i) {
    const std::size_t shape = in_turn ? i % shapes : w.random.index(shapes);
    w.begin();
    for (Kernel k : joined({n.forward, n.backward})) {
      k.grid += 16 * static_cast<std::uint32_t>(shape);
      k.us *= 1 + 0.2 * static_cast<double>(shape);
      w.launch(k);
    }
    w.launch(n.step);
  }
}

void kernels_vary(Writer& w) {
  std::vector<Network> shapes{network(w, 30, 200)};
  for (std::size_t s = w.between(2, 4); s > 1; --s) {
    shapes.push_back(network(w, 30, 200));
    shapes.back().step = shapes.front().step;
    for (Kernel& k : shapes.back().forward) k.name += 10'000 * s;
    for (Kernel& k : shapes.back().backward) k.name += 10'000 * s;
  }
  // The optimizer's kernels differ in their grids, which follow the parameters.
  Program step;
  for (std::uint32_t i = 0; i < w.between(6, 20); ++i)
    step.push_back({.name = 3000 + i % 3, .grid = 100 + i, .us = 20});
  std::vector<std::size_t> sizes;
  for (std::size_t i = w.between(40, 60); i > 0; --i) {
    const Network& n = shapes[w.random.index(shapes.size())];
    w.begin();
    w.launch(joined({n.forward, n.backward, step}));
    sizes.push_back(n.forward.size() + n.backward.size() + step.size());
  }
  std::ranges::sort(sizes);
  w.job.launches = sizes[sizes.size() / 2];
  w.job.exact = false;
}

void streams(Writer& w) {
  const Program p = network(w).whole();
  const std::size_t every = w.between(5, 20);
  std::size_t side = 0;
  for (std::size_t i = 0; i < p.size(); ++i)
    if (i % every == 0) ++side;
  w.job.launches = p.size() + side;
  for (std::size_t i = w.between(25, 50); i > 0; --i) {
    w.begin();
    for (std::size_t k = 0; k < p.size(); ++k) {
      w.launch(p[k]);
      if (k % every != 0) continue;
      KernelRecord r = w.job.records.back();
      r.begin = r.begin + Seconds(w.random.uniform(1e-6, 400e-6));
      r.end = r.begin + Seconds(200e-6);
      r.stream = k % (2 * every) == 0 ? 20 : 21;
      r.name_hash = 7000;
      w.job.records.push_back(r);
    }
  }
  std::ranges::stable_sort(w.job.records, {}, [](const KernelRecord& r) { return r.begin; });
}

void unannounced_loss(Writer& w) {
  plain(w);
  const double rate = w.random.uniform(0.002, 0.02);
  std::erase_if(w.job.records, [&](const KernelRecord&) { return w.random.uniform() < rate; });
}

void announced_loss(Writer& w) {
  plain(w);
  std::vector<KernelRecord> kept;
  std::uint64_t lost = 0;
  std::size_t hole = 0;
  const double chance = 1.0 / (8.0 * static_cast<double>(*w.job.launches));
  for (const KernelRecord& r : w.job.records) {
    if (hole == 0 && w.random.uniform() < chance) hole = w.between(1, *w.job.launches);
    if (hole > 0) {
      --hole;
      ++lost;
      continue;
    }
    kept.push_back(r);
    kept.back().lost_before = lost;
    lost = 0;
  }
  w.job.records = kept;
}

void now_and_then(Writer& w) {
  const Network n = network(w, 40, 400);
  w.job.launches = n.whole().size();
  const Program log_line = {{.name = 8000, .us = 2}, {.name = 8001, .us = 2}};
  const Program scheduler = {{.name = 8100, .us = 2}, {.name = 8101, .us = 3}, {.name = 8102, .us = 2}};
  const std::size_t every = w.random.uniform() < 0.5 ? 10 : 20;
  for (std::size_t i = 1; i <= 110; ++i) {
    w.begin();
    w.launch(n.whole());
    if (i % every == 0) w.launch(log_line);
    if (i % 50 == 0) w.launch(scheduler);
  }
}

void evaluations(Writer& w) {
  const Network n = network(w, 20, 300);
  w.job.launches = n.whole().size();
  Program evaluation = n.forward;
  for (Kernel& k : evaluation)
    if (w.random.uniform() < 0.2) k.name += 500;  // other kernels where nothing is kept for the backward pass
  const std::size_t every = w.between(30, 50);
  for (std::size_t epoch = 0; epoch < 3; ++epoch) {
    repeat(w, n.whole(), every);
    w.launch(times(evaluation, every / 4));
  }
  repeat(w, n.whole(), 5);
}

void graphs(Writer& w) {
  const Network n = network(w, 10, 100);
  const std::size_t count = w.between(1, 12);
  Program p;
  for (std::size_t i = 0; i < count; ++i) {
    p.push_back(
        {.name = 0, .grid = 0, .us = 900, .graph = static_cast<std::uint32_t>(1 + w.random.index(4))});
    const Program between = w.program(w.between(0, 3), 4000, 4);
    p.insert(p.end(), between.begin(), between.end());
  }
  p.insert(p.end(), n.step.begin(), n.step.end());
  w.job.launches = p.size();
  repeat(w, p, w.between(120, 160));
}

void cycles(Writer& w) {
  Network n = network(w, 10, 300);
  const Program p = n.whole();
  w.job.launches = p.size();
  double us = 0;
  for (const Kernel& k : p) us += k.us;
  // Long enough that a cycle holds 4 to 40 iterations.
  const double stretch = 2e6 / w.random.uniform(4, 40) / us;
  Program slow = p;
  for (Kernel& k : slow) k.us *= stretch;
  std::vector<KernelRecord> kept;
  for (int cycle = 0; cycle < 4; ++cycle) {
    const TimePoint from = w.now + Seconds(0.3);
    const TimePoint to = from + Seconds(2);
    while (w.now < to) {
      w.job.records.clear();
      w.begin();
      w.launch(slow);
      for (const KernelRecord& r : w.job.records)
        if (r.begin >= from && r.end <= to) kept.push_back(r);
    }
    w.job.cycle_ends.push_back(to);
    w.now = to + Seconds(58);
  }
  w.job.records = kept;
}

void two_processes(Writer& w) {
  const Network n = network(w, 20, 300);
  w.job.launches = n.whole().size();
  repeat(w, n.whole(), w.between(25, 50));
  Writer other(w.random.next());
  other.pid = 200;
  Program small = other.program(other.between(10, 100), 1000, 12);
  for (Kernel& k : small) k.us /= 4;
  while (other.now < w.now) {
    other.now = other.now + Seconds(2e-3);
    other.launch(small);
  }
  w.job.records.insert(w.job.records.end(), other.job.records.begin(), other.job.records.end());
  std::ranges::stable_sort(w.job.records, {}, [](const KernelRecord& r) { return r.begin; });
}

void random_kernels(Writer& w) {
  const std::size_t names = w.between(2, 40);
  for (std::size_t i = w.between(2'000, 30'000); i > 0; --i)
    w.launch(Kernel{.name = 1 + w.random.index(names), .us = w.random.uniform(5, 500)});
}

void one_kernel(Writer& w) {
  for (std::size_t i = w.between(500, 20'000); i > 0; --i) w.launch(Kernel{.name = 1, .us = 40});
}

void changing_programs(Writer& w) {
  std::vector<Program> programs;
  for (std::size_t i = w.between(4, 10); i > 0; --i)
    programs.push_back(w.program(w.between(3, 60), 1000 * i, 12));
  for (std::size_t i = w.between(300, 900); i > 0; --i) {
    const Program& p = programs[w.random.index(programs.size())];
    for (std::size_t k = w.between(1, p.size()); k > 0; --k) w.launch(p[w.random.index(p.size())]);
  }
}

}  // namespace

std::string_view name_of(Family family) {
  return kNames[static_cast<std::size_t>(family)];
}

Job make_job(Family family, std::uint64_t seed) {
  constexpr std::array kMakers = {
      plain,   layers,           micro_batches,  tuning,       grids_vary,       kernels_vary,
      streams, unannounced_loss, announced_loss, now_and_then, evaluations,      graphs,
      cycles,  two_processes,    random_kernels, one_kernel,   changing_programs};
  static_assert(kMakers.size() == kFamilies);
  Writer w(seed * kFamilies + static_cast<std::uint64_t>(family));
  kMakers[static_cast<std::size_t>(family)](w);
  return std::move(w.job);
}

}  // namespace rubato::progress::kernels
