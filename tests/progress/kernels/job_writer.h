// Writes the kernels of a job as they are launched, and makes the programs that jobs are made of.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "base/random.h"
#include "progress/kernels/jobs.h"

namespace rubato::progress::kernels {

struct Kernel {
  std::uint64_t name = 0;
  std::uint32_t grid = 1;
  double us = 10;
  std::uint32_t graph = 0;
};
using Program = std::vector<Kernel>;

class Writer {
 public:
  explicit Writer(std::uint64_t seed) : random(seed) {}

  std::size_t between(std::size_t low, std::size_t high) { return low + random.index(high - low + 1); }

  // Few names and grids, as networks have: the same kernels come many times.
  Program program(std::size_t size, std::uint64_t first_name, std::size_t names) {
    Program p;
    for (std::size_t i = 0; i < size; ++i)
      p.push_back({.name = first_name + random.index(names),
                   .grid = static_cast<std::uint32_t>(1 + random.index(4)),
                   .us = std::exp(random.uniform(1.0, 4.5))});
    return p;
  }

  void launch(const Kernel& k) {
    const double us = k.us * (1 + 0.02 * random.normal());
    KernelRecord r{.begin = now, .end = now + Seconds(us * 1e-6), .name_hash = k.name};
    r.grid = {k.grid, 1, 1};
    r.block = {128, 1, 1};
    r.stream = 7;
    r.graph = k.graph;
    r.pid = pid;
    job.records.push_back(r);
    now = r.end + Seconds(random.uniform(0.5e-6, 3e-6));
  }
  void launch(const Program& p) {
    for (const Kernel& k : p) launch(k);
  }
  void begin() {
    now = now + Seconds(random.uniform(50e-6, 300e-6));
    job.begins.push_back(now);
  }

  Random random;
  Job job;
  TimePoint now{1'000'000'000};
  std::int32_t pid = 100;
};

inline Program joined(std::initializer_list<Program> parts) {
  Program all;
  for (const Program& p : parts) all.insert(all.end(), p.begin(), p.end());
  return all;
}

inline Program times(const Program& p, std::size_t count) {
  Program all;
  for (std::size_t i = 0; i < count; ++i) all.insert(all.end(), p.begin(), p.end());
  return all;
}

// Forward, backward and optimizer of some network.
struct Network {
  Program forward;
  Program backward;
  Program step;
  [[nodiscard]] Program whole() const { return joined({forward, backward, step}); }
};

inline Network network(Writer& w, std::size_t smallest = 10, std::size_t largest = 600) {
  const std::size_t n = w.between(smallest, largest);
  return {.forward = w.program(n, 1000, 12),
          .backward = w.program(2 * n, 2000, 16),
          .step = w.program(std::max<std::size_t>(3, n / 8), 3000, 5)};
}

inline void repeat(Writer& w, const Program& p, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    w.begin();
    w.launch(p);
  }
}

}  // namespace rubato::progress::kernels
