/* The least a sampler can be: power and energy counter of every GPU, at a fixed period, and nothing kept.
 * usage: plain_loop SECONDS PERIOD_MS   (through the libnvidia-ml.so.1 the loader finds) */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef int (*init_fn)(void);
typedef int (*count_fn)(unsigned*);
typedef int (*handle_fn)(unsigned, void**);
typedef int (*power_fn)(void*, unsigned*);
typedef int (*energy_fn)(void*, unsigned long long*);

static long long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  long long end = now_ns() + atoll(argv[1]) * 1000000000LL;
  long long period = atoll(argv[2]) * 1000000LL;
  void* nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (nvml == NULL) return 1;
  init_fn init = (init_fn)dlsym(nvml, "nvmlInit_v2");
  count_fn count_gpus = (count_fn)dlsym(nvml, "nvmlDeviceGetCount_v2");
  handle_fn handle = (handle_fn)dlsym(nvml, "nvmlDeviceGetHandleByIndex_v2");
  power_fn power = (power_fn)dlsym(nvml, "nvmlDeviceGetPowerUsage");
  energy_fn energy = (energy_fn)dlsym(nvml, "nvmlDeviceGetTotalEnergyConsumption");
  unsigned count = 0;
  void* gpus[64];
  if (init() != 0 || count_gpus(&count) != 0 || count > 64) return 1;
  for (unsigned i = 0; i < count; ++i)
    if (handle(i, &gpus[i]) != 0) return 1;
  long long inside = 0;
  long long calls = 0;
  unsigned long long sum = 0;
  for (long long due = now_ns(); due < end; due += period) {
    struct timespec t = {due / 1000000000LL, due % 1000000000LL};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
    long long before = now_ns();
    for (unsigned i = 0; i < count; ++i) {
      unsigned mw = 0;
      unsigned long long mj = 0;
      power(gpus[i], &mw);
      energy(gpus[i], &mj);
      sum += mw + mj;
      calls += 2;
    }
    inside += now_ns() - before;
  }
  printf("{\"gpus\": %u, \"driver_calls\": %lld, \"driver_s\": %.6f, \"checksum\": %llu}\n", count, calls,
         (double)inside * 1e-9, sum);
  return 0;
}
