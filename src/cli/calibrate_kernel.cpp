// `rubato calibrate-kernel`: the job of `rubato calibrate` on a real GPU. One micro-benchmark, unit after
// unit, with a mark at each end; hidden, as nobody needs to type it.
#include <fmt/format.h>

#include <optional>
#include <string>

#include "base/log.h"
#include "cli/invocation.h"
#include "cli/no_nan.h"
#include "experiment/calibrate/bench.h"
#include "report/render.h"
#include "simgpu/trainer/mark_writer.h"

namespace rubato::cli {
namespace {

struct Options {
  std::string benchmark;
  std::string uuid;
  double seconds = 10;
};

Status run(const Options& options) {
  const auto benchmark = experiment::find_benchmark(options.benchmark);
  if (!benchmark) return fail(benchmark.error());
  auto gpu = experiment::open_cuda(options.uuid);
  if (!gpu) return fail(gpu.error());
  auto bench = experiment::Bench::prepare(**gpu, **benchmark);
  if (!bench) return fail(bench.error());
  auto marks = sim_trainer::MarkWriter::from_environment();
  if (!marks) return fail(marks.error());

  const RealClock clock;
  const TimePoint end = clock.now() + Seconds(options.seconds);
  std::uint64_t units = 0;
  const Status done = experiment::run_units(
      **gpu, *bench, clock,
      [&](const experiment::UnitTimes& unit) {
        ++units;
        if (!*marks) return;
        (*marks)->write(unit.begin, RUBATO_MARK_ITERATION_BEGIN, unit.index);
        (*marks)->write(unit.end, RUBATO_MARK_ITERATION_END, unit.index);
      },
      [&](const experiment::UnitTimes& unit) { return unit.end >= end; });
  if (!done) return done;

  using report::Amount;
  using report::Object;
  const auto& facts = (*gpu)->facts();
  fmt::print("{}", report::render_json(Object{{"schema", "rubato.calibrate_kernel/1"},
                                              {"benchmark", options.benchmark},
                                              {"gpu", facts.name},
                                              {"cuda_driver_version", facts.driver_version},
                                              {"units", units},
                                              {"operations", Amount{bench->plan().operations, "", 0}},
                                              {"bytes", Amount{bench->plan().bytes, "B", 0}},
                                              {"proved", true}}));
  return {};
}

}  // namespace

int calibrate_kernel_main(int argc, char** argv) {
  CLI::App app("one micro-benchmark of `rubato calibrate`", "rubato calibrate-kernel");
  Options options;
  app.add_option("benchmark", options.benchmark, "as `rubato calibrate --list` names it")
      ->type_name("NAME")
      ->required();
  app.add_option("--uuid", options.uuid, "the GPU (default: CUDA's first)")->type_name("UUID");
  app.add_option("--seconds", options.seconds, "how long")
      ->check(CLI::PositiveNumber)
      ->check(no_nan())
      ->capture_default_str();
  try {
    app.parse(argc - 1, argv + 1);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kRefused;
  }
  if (const Status done = run(options); !done) {
    log::error(done.error());
    return 1;
  }
  return 0;
}

}  // namespace rubato::cli
