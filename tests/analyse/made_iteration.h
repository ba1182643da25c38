// What a run's record tells of its iteration, made by hand.
#pragma once

#include "analyse/made_run.h"

namespace rubato::analyse::testing_data {

inline record::IterationStatement stated(Seconds after, ProgressSource source, Seconds period,
                                         double confidence, bool used) {
  return {.gpu = std::nullopt,
          .estimate = {.at = kBegin + after,
                       .source = source,
                       .periodic = true,
                       .period = period,
                       .confidence = confidence},
          .used = used,
          .check = {}};
}

/// Found in telemetry after 9 s and in the kernels after 31 s, when autotuning had been over for 19 s; at 100
/// s it became longer, and the counters were read again.
inline record::RunRecord found_run() {
  MadeRun made;
  made.block(BlockRole::baseline, 300, 0.4_s, 200_W);
  record::RunRecord run = made.ended();
  const GpuId gpu = run.devices[0].info.identity.id;
  run.decisions = {{kBegin + 5_s, "tuning", {}, "iterations still become shorter"},
                   {kBegin + 12_s, "tuning_over", {}, "ten iterations in a row took as long"}};
  run.statements = {stated(9_s, ProgressSource::telemetry, 0.41_s, 0.85, true),
                    stated(31_s, ProgressSource::kernels, 0.4_s, 0.991, true),
                    stated(31_s, ProgressSource::telemetry, 0.4_s, 0.97, false)};
  run.statements[0].estimate.half_width = 0.01;
  run.statements[0].gpu = run.statements[2].gpu = gpu;
  IterationEstimate& kernels = run.statements[1].estimate;
  kernels.half_width = 0.003;
  kernels.drift_per_minute = 0.001;
  kernels.launches = 412;
  kernels.why = "412 launches repeat";
  run.statements[1].check = "telemetry: it finds the same period";
  run.statements[2].estimate.why = "the power repeats";
  run.statements[2].check = "it finds the same period";
  run.shifts = {{gpu, {kBegin + 100_s, kBegin + 103_s, "period", 0.4, 0.6, "s", "longer sequences"}}};
  for (const double at : {33.0, 105.0}) {
    record::FeatureWindow w{.gpu = gpu, .provider = "gpm", .features = {}, .setting = {}, .why = {}};
    w.features.begin = kBegin + Seconds(at);
    w.features.end = kBegin + Seconds(at + 4);
    w.features[Feature::sm_active] = at < 100 ? 0.75 : 0.5;
    w.features[Feature::pcie_tx_bytes_per_s] = 1.25e9;
    if (at < 100) w.features[Feature::instructions_per_cycle] = 2.1;
    w.why = at < 100 ? "the iteration was found" : "the job changed";
    run.features.push_back(w);
  }
  return run;
}

/// No period was found, and kernels were counted instead.
inline record::RunRecord aperiodic_run() {
  MadeRun made;
  made.idle(BlockRole::baseline, 120_s, 200_W);
  record::RunRecord run = made.ended();
  run.statements = {{.gpu = std::nullopt,
                     .estimate = {.at = kBegin + 60_s, .confidence = 0.97, .why = "the power never repeats"},
                     .used = true,
                     .check = {}}};
  run.rates = {{std::nullopt,
                {.begin = kBegin + 60_s,
                 .end = kBegin + 90_s,
                 .kind = RateKind::kernels,
                 .per_second = 2500,
                 .half_width = 0.1,
                 .confidence = 0.6,
                 .why = "kernels of the recorded cycles"}}};
  return run;
}

}  // namespace rubato::analyse::testing_data
