#include "sensor_truth/load.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace rubato::truth {
namespace {

double log_uniform(Random& random, double low, double high) {
  return low * std::pow(high / low, random.uniform());
}

double exponential(Random& random, double mean) {
  return -mean * std::log(1.0 - random.uniform());
}

/// What happens in one iteration: parts with their share of the time and their power.
struct Part {
  double share;
  double power_w;
};

class Writer {
 public:
  Writer(Load& load, double seconds) : load_(load) { load_.end_s = seconds; }
  [[nodiscard]] bool done() const { return now_ >= load_.end_s; }
  [[nodiscard]] double now() const { return now_; }
  void hold(double power_w, double seconds) {
    if (seconds <= 0) return;
    load_.stretches.push_back({now_, power_w});
    now_ += seconds;
  }

 private:
  Load& load_;
  double now_ = 0;
};

class Drawer {
 public:
  Drawer(double idle_w, double highest_w, Random& random)
      : idle_(idle_w), highest_(highest_w), random_(random) {}

  double level() { return idle_ + (highest_ - idle_) * random_.uniform(0.2, 1.0); }
  double low_level() { return idle_ + (highest_ - idle_) * random_.uniform(0.0, 0.4); }

  std::vector<Part> two_levels() {
    const double duty = random_.uniform(0.1, 0.9);
    return {{duty, level()}, {1 - duty, low_level()}};
  }
  /// Forward, backward, optimizer, exchange and a wait, more or less: two to six parts of their own.
  std::vector<Part> parts() {
    std::vector<Part> made(2 + random_.index(5));
    double sum = 0;
    for (Part& part : made) sum += part.share = random_.uniform(0.1, 1.0);
    for (Part& part : made) {
      part.share /= sum;
      part.power_w = random_.uniform() < 0.25 ? low_level() : level();
    }
    return made;
  }

 private:
  double idle_;
  double highest_;
  Random& random_;
};

/// Writes iterations and keeps their mean and spread.
class Steps {
 public:
  Steps(std::vector<Part> parts, double length_s, double jitter, Random& random)
      : parts_(std::move(parts)), length_(length_s), jitter_(jitter), random_(random) {}

  void one(Writer& writer, double factor = 1.0) {
    const double length = length_ * std::max(0.3, 1 + jitter_ * random_.normal());
    for (const Part& part : parts_) writer.hold(part.power_w * factor, length * part.share);
    ++count_;
    sum_ += length;
    squares_ += length * length;
  }
  void tell(Load& load) const {
    if (count_ < 3) return;
    const double mean = sum_ / count_;
    load.step_s = mean;
    load.spread_s = std::sqrt(std::max(0.0, squares_ / count_ - mean * mean));
  }

 private:
  std::vector<Part> parts_;
  double length_;
  double jitter_;
  Random& random_;
  double count_ = 0;
  double sum_ = 0;
  double squares_ = 0;
};

double draw_jitter(Random& random) {
  return random.uniform() < 0.3 ? 0.0 : log_uniform(random, 0.001, 0.05);
}

double beating_step(double period_s, Random& random) {
  const double ratio = static_cast<double>(1 + random.index(8)) / static_cast<double>(1 + random.index(4));
  return std::max(0.01, period_s * ratio * (1 + random.uniform(-0.01, 0.01)));
}

}  // namespace

const char* name_of(Shape shape) {
  constexpr std::array names = {"idle",   "constant", "square", "iterations",   "near beat",
                                "bursts", "stalls",   "drift",  "microbatches", "epochs"};
  return names[static_cast<std::size_t>(shape)];
}

Load draw_load(Shape shape, double seconds, double idle_w, double highest_w, double sensor_period_s,
               Random& random) {
  Load load;
  load.shape = shape;
  Writer writer(load, seconds);
  Drawer draw(idle_w, highest_w, random);
  const auto repeat = [&](std::vector<Part> parts, double length, double jitter, auto&& between) {
    Steps steps(std::move(parts), length, jitter, random);
    while (!writer.done()) {
      steps.one(writer, between());
    }
    steps.tell(load);
  };
  const auto nothing = [] { return 1.0; };
  switch (shape) {
    case Shape::idle:
    case Shape::constant: {
      const double power = shape == Shape::idle ? idle_w : draw.level();
      while (!writer.done()) writer.hold(power * (1 + 0.01 * random.normal()), exponential(random, 0.05));
      break;
    }
    case Shape::square:
      repeat(draw.two_levels(), log_uniform(random, 0.02, 5), random.uniform() < 0.5 ? 0.0 : 0.01, nothing);
      break;
    case Shape::iterations:
      repeat(draw.parts(), log_uniform(random, 0.03, 3), draw_jitter(random), nothing);
      break;
    case Shape::near_beat:
      repeat(random.uniform() < 0.5 ? draw.two_levels() : draw.parts(), beating_step(sensor_period_s, random),
             random.uniform() < 0.3 ? 0.0 : log_uniform(random, 0.001, 0.02), nothing);
      break;
    case Shape::bursts: {
      const double on = log_uniform(random, 0.02, 3);
      const double off = log_uniform(random, 0.02, 3);
      while (!writer.done()) {
        writer.hold(draw.level(), exponential(random, on));
        writer.hold(idle_w, exponential(random, off));
      }
      break;
    }
    case Shape::stalls: {
      const double every = random.uniform(3, 30);
      double next = exponential(random, every);
      repeat(draw.parts(), log_uniform(random, 0.05, 1), draw_jitter(random), [&] {
        if (writer.now() < next) return 1.0;
        writer.hold(idle_w * random.uniform(1.0, 1.6), random.uniform(0.2, 4));
        next = writer.now() + exponential(random, every);
        return 1.0;
      });
      break;
    }
    case Shape::drift: {
      const double rise = random.uniform(-0.2, 0.2);
      const double time = random.uniform(10, 100);
      repeat(draw.parts(), log_uniform(random, 0.03, 2), draw_jitter(random),
             [&] { return 1 - rise * std::exp(-writer.now() / time); });
      break;
    }
    case Shape::microbatches: {
      const std::vector<Part> one = draw.two_levels();
      const std::size_t count = 2 + random.index(15);
      std::vector<Part> parts;
      for (std::size_t i = 0; i < count; ++i)
        for (const Part& part : one)
          parts.push_back({part.share * 0.9 / static_cast<double>(count), part.power_w});
      parts.push_back({0.1, draw.low_level()});
      repeat(std::move(parts), log_uniform(random, 0.2, 5), draw_jitter(random), nothing);
      break;
    }
    case Shape::epochs: {
      Steps train(draw.parts(), log_uniform(random, 0.03, 1), draw_jitter(random), random);
      Steps evaluate(draw.parts(), log_uniform(random, 0.02, 0.5), draw_jitter(random), random);
      const double epoch = random.uniform(4, 60);
      while (!writer.done()) {
        for (const double end = writer.now() + epoch; writer.now() < end && !writer.done();)
          train.one(writer);
        for (const double end = writer.now() + epoch * 0.15; writer.now() < end && !writer.done();)
          evaluate.one(writer);
        writer.hold(idle_w * 1.3, random.uniform(0.1, 1));
      }
      train.tell(load);
      break;
    }
  }
  return load;
}

}  // namespace rubato::truth
