// What the fake CUPTI does besides CUPTI's own functions. Its behaviour is chosen by the environment:
//   FAKE_CUPTI_VERSION    what cuptiGetVersion says; the size of its records follows (default 130500)
//   FAKE_CUPTI_KERNEL_BYTES  another size of kernel records, so that buffers fill sooner
//   FAKE_CUPTI_SUBSCRIBE  error of cuptiSubscribe (39: somebody else has it)
//   FAKE_CUPTI_ENABLE     error of cuptiActivityEnable for kernels
//   FAKE_CUPTI_DROPPED    records it says it dropped, once
//   FAKE_CUPTI_UNFINISHED 1: the last kernel of a buffer never ends, and only a forced flush brings the
//   buffer FAKE_CUPTI_HANG       1: flushing never returns
#pragma once

#include <cstdint>

struct FakeLaunch {
  const char* name;  // null: a CUDA graph
  std::uint32_t grid;
  std::uint32_t block;
  std::uint32_t stream;
  std::uint32_t graph;
};

struct FakeCounts {
  unsigned subscribed;
  unsigned unsubscribed;
  unsigned recorded;  // kernels and graphs put in a buffer
  unsigned dropped;   // for want of a buffer
  unsigned cycles;    // times kernel activity was switched off again
  unsigned enabled;   // kinds that are on now
};

// CUPTI's clock runs this far from CLOCK_MONOTONIC.
inline constexpr std::int64_t kFakeClockOffset = 1'000'000'000'000'000'000;

using FakeLaunchFunction = void(const FakeLaunch*);
using FakeCountsFunction = void(FakeCounts*);
