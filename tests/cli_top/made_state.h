// A moment with two GPUs, a governed run on one of them, a measured one, and a process of somebody else.
#pragma once

#include "cli/top/state.h"

namespace rubato::cli::top {

inline GpuState made_gpu(unsigned index, const std::string& name, Watts power) {
  GpuState gpu;
  gpu.identity = {.id = {"GPU-00000000-0000-0000-0000-00000000000" + std::to_string(index)},
                  .name = name,
                  .index = index,
                  .pci_bus_id = "00000000:1B:00.0"};
  gpu.kind = Kind::modelled;
  gpu.power = power;
  gpu.slow.sm_clock = 1380_MHz;
  gpu.slow.memory_clock = 877_MHz;
  gpu.slow.sm_utilisation = 0.98;
  gpu.slow.memory_utilisation = 0.41;
  gpu.slow.temperature = Celsius(61);
  gpu.slow.limiter = LimiterReasons{.power_cap = true};
  gpu.slow.requested_limit = 156_W;
  gpu.slow.enforced_limit = 156_W;
  gpu.slow.performance_state = 0;
  gpu.limits = PowerLimits{100_W, 250_W, 250_W, 200_W, 200_W};
  return gpu;
}

inline RunNow made_run() {
  RunNow run;
  record::RunState& r = run.state;
  r.run_id = "20261122-121000-000-aaaa";
  r.mode = "run";
  r.command = {"/usr/bin/python3", "examples/train.py", "--learning-rate", "0.1"};
  r.pid = 4711;
  r.job_pid = 4712;
  r.running = Seconds(754);
  r.strategy = "rubato";
  r.doing = "hold";
  r.setting = {.power_limit = 156_W, .sm_clock = ClockRange{1380_MHz, 1380_MHz}};
  r.why =
      "holding 156 W, SM 1380 MHz: 6.8 % less energy, 3.9 % slower; nothing that was tried saves more inside "
      "5 %";
  r.iterations = 1824;
  r.iteration = IterationEstimate{
      .source = ProgressSource::marks, .periodic = true, .period = Seconds(0.412), .confidence = 0.993};
  r.saving = record::RunStateSaving{{0.123, 0.004}, {0.0214, 0.0031}, Kind::modelled};
  record::RunStateGpu gpu;
  gpu.uuid = "GPU-00000000-0000-0000-0000-000000000000";
  gpu.name = "Tesla V100-PCIE-16GB";
  gpu.kind = Kind::modelled;
  gpu.used_by_job = true;
  gpu.power = 155.2_W;
  gpu.energy = Joules(117024);
  r.gpus.push_back(gpu);
  run.age = Seconds(0.4);
  return run;
}

inline State made_state() {
  State state;
  state.time_of_day = "12:22:34";
  state.at = "2026-11-22T12:22:34+0000";
  state.host = "node7";
  state.backend = "sim";
  state.gpus = {made_gpu(0, "Tesla V100-PCIE-16GB", 155.2_W), made_gpu(1, "NVIDIA H100 80GB HBM3", 70.5_W)};
  GpuState& second = state.gpus.back();
  second.slow = SlowReading{};
  second.slow.temperature = Celsius(33);
  second.slow.sm_utilisation = 0;
  second.slow.limiter = LimiterReasons{.idle = true};
  second.slow.requested_limit = 700_W;
  second.slow.enforced_limit = 500_W;
  RunNow measured;
  measured.state.run_id = "20261122-121500-000-bbbb";
  measured.state.mode = "measure";
  measured.state.command = {"./bench", "--all"};
  measured.state.strategy = "measure-only";
  measured.state.doing = "measure_only";
  measured.state.why = "measuring only, as asked: nothing is set";
  measured.state.running = Seconds(8.5);
  measured.age = Seconds(12);
  state.runs = {made_run(), measured};
  state.processes = {{.pid = 4712,
                      .user = "alice",
                      .command = "/usr/bin/python3 examples/train.py --learning-rate 0.1",
                      .gpus = {0},
                      .memory_bytes = 13'207'024'435,
                      .run_id = "20261122-121000-000-aaaa"},
                     {.pid = 99,
                      .user = "bob",
                      .command = "./n\xc3\xb6rdlich \xe2\x80\xae\x1b[2Jx",
                      .gpus = {0, 1},
                      .memory_bytes = 52'428'800}};
  return state;
}

}  // namespace rubato::cli::top
