#include "shift_rate/trial.h"

#include <cmath>
#include <ctime>

#include "shift_rate/gpoeo_rule.h"

namespace rubato::shift_rate {
namespace {

constexpr double kHour = 3600;
constexpr double kPatience = 180;

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Random stream(const Family& family, std::uint64_t seed, std::uint64_t number) {
  std::uint64_t salt = number;
  for (const char c : family.name) salt = salt * 131 + static_cast<unsigned char>(c);
  return Random(seed).fork(salt);
}

}  // namespace

Quiet run_quiet(const Family& family, std::uint64_t seed, unsigned hours) {
  Quiet result;
  for (unsigned hour = 0; hour < hours; ++hour) {
    std::vector<progress::ShiftReading> readings;
    Job job(family, stream(family, seed, hour));
    while (job.now_s() < kHour) readings.push_back(job.next());
    progress::ShiftDetector detector;
    GpoeoRule gpoeo;
    const double begin = cpu_seconds();
    for (const auto& reading : readings)
      if (detector.add(reading)) ++result.alarms;
    result.cpu_us_per_reading += (cpu_seconds() - begin) * 1e6;
    for (const auto& reading : readings)
      if (gpoeo.add(*reading.power)) ++result.gpoeo_alarms;
    result.readings += readings.size();
    result.hours += job.now_s() / kHour;
  }
  if (result.readings > 0) result.cpu_us_per_reading /= static_cast<double>(result.readings);
  return result;
}

Delays run_changes(const Family& family, Changed what, double size, std::uint64_t seed, unsigned runs) {
  Delays result;
  for (unsigned run = 0; run < runs; ++run) {
    Random random = stream(family, seed, 1'000'000 + run);
    Change change;
    change.at_s = random.uniform(120, 480);
    change.what = what;
    change.size = random.uniform() < 0.5 ? size : 1 / (1 + size) - 1;
    Job job(family, random.fork(1), change);
    progress::ShiftDetector detector;
    GpoeoRule gpoeo;
    bool gpoeo_done = false;
    unsigned after = 0;
    unsigned told_after = 0;
    double told_s = 0;
    std::vector<double> begins;
    ++result.runs;
    std::optional<Shift> told;
    while (job.now_s() < change.at_s + kPatience && !(told && gpoeo_done)) {
      const progress::ShiftReading reading = job.next();
      begins.push_back(reading.begin.since_epoch().value());
      if (job.now_s() > change.at_s) ++after;
      if (!told) {
        told = detector.add(reading);
        told_after = after;
        told_s = job.now_s() - change.at_s;
      }
      if (!gpoeo_done && gpoeo.add(*reading.power)) {
        gpoeo_done = true;
        ++(after > 0 ? result.gpoeo_told : result.gpoeo_spoiled);
      }
    }
    if (!told) continue;
    if (told_after == 0) {
      ++result.spoiled;
      continue;
    }
    ++result.told;
    result.readings.push_back(told_after);
    result.seconds.push_back(told_s);
    if (told->what != (what == Changed::period ? "period" : "power")) ++result.wrong_signal;
    // The reading that holds the change, and the one that was stated.
    double off = 0;
    for (const double b : begins) {
      const double stated = told->at.since_epoch().value();
      if (b > std::min(stated, change.at_s) && b <= std::max(stated, change.at_s)) ++off;
    }
    result.at_readings.push_back(off);
  }
  return result;
}

}  // namespace rubato::shift_rate
