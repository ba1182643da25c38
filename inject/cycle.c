#include "cycle.h"

#include <rubato/kernel_layout.h>
#include <stdatomic.h>
#include <stdio.h>

#include "buffers.h"
#include "decode.h"
#include "layers.h"
#include "marks.h"
#include "now.h"

enum {
  LOOK_NS = 20000000,   /* how often the buffers are looked at while recording */
  SETTLE_NS = 50000000, /* kernels that run at the end may complete; five times this */
  SETTLE_TIMES = 5,
  KEEP_FREE = 4,       /* the cycle ends before CUPTI has to drop records */
  PACE_NS = 250000000, /* between quarters of the ring, so that its reader can follow */
};

static const struct cupti* g_call;
static _Atomic uint64_t g_dropped;

static void count_dropped(void* context, uint32_t stream) {
  size_t dropped = 0;
  if (g_call->dropped_records(context, stream, &dropped) == CUPTI_OK)
    atomic_fetch_add_explicit(&g_dropped, dropped, memory_order_relaxed);
}

static void completed(void* context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid) {
  count_dropped(context, stream);
  buffers_completed(context, stream, buffer, size, valid);
}

/* No callback is ever enabled: the subscription only tells other tools that CUPTI is taken. */
static void never_called(void* user, int domain, uint32_t id, const void* data) {
  (void)user;
  (void)domain;
  (void)id;
  (void)data;
}

static void refused(char* why, size_t size, const char* call, int status) {
  switch (status) {
    case CUPTI_MULTIPLE_SUBSCRIBERS:
      snprintf(why, size, "kernels are not recorded: another profiler uses CUPTI in this process");
      break;
    case CUPTI_INSUFFICIENT_PRIVILEGES:
      snprintf(why, size, "kernels are not recorded: the driver lets only administrators profile");
      break;
    default:
      snprintf(why, size, "kernels are not recorded: %s failed with CUPTI error %d", call, status);
  }
}

static bool g_layers_enabled;

static void disable_all(const struct cycle* cycle) {
  const struct cupti* call = &cycle->library->call;
  call->disable(CUPTI_KIND_CONCURRENT_KERNEL);
  if (!cycle->settings->graph_nodes) call->disable(CUPTI_KIND_GRAPH_TRACE);
  if (!g_layers_enabled) return;
  call->disable(CUPTI_KIND_DRIVER);
  call->disable(CUPTI_KIND_RUNTIME);
  call->disable(CUPTI_KIND_EXTERNAL_CORRELATION);
}

static int enable_all(const struct cycle* cycle) {
  const struct cupti* call = &cycle->library->call;
  g_layers_enabled = layers_used();
  if (g_layers_enabled) {
    /* What is correlated are launch calls, so these have to be recorded as well. */
    call->enable(CUPTI_KIND_EXTERNAL_CORRELATION);
    call->enable(CUPTI_KIND_RUNTIME);
    call->enable(CUPTI_KIND_DRIVER);
  }
  if (!cycle->settings->graph_nodes) call->enable(CUPTI_KIND_GRAPH_TRACE);
  return call->enable(CUPTI_KIND_CONCURRENT_KERNEL);
}

static void record_until_due(const struct cycle* cycle, int64_t end) {
  for (int64_t left = end - now_ns(); left > 0; left = end - now_ns()) {
    if (cycle->wait(left < LOOK_NS ? left : LOOK_NS)) return;
    if (buffers_free() < KEEP_FREE) return;
  }
}

static void fetch(const struct cycle* cycle) {
  const struct cupti* call = &cycle->library->call;
  call->flush_all(0);
  for (int i = 0; i < SETTLE_TIMES && buffers_given() > 0; ++i) {
    if (cycle->wait(SETTLE_NS)) break;
    call->flush_all(0);
  }
  if (buffers_given() > 0) call->flush_all(CUPTI_FLUSH_FORCED);
  count_dropped(NULL, 0); /* where there was no buffer left to tell it with */
}

struct pace {
  const struct cycle* cycle;
  uint64_t since;
  bool hurry;
};

static void keep_pace(void* user) {
  struct pace* pace = user;
  if (pace->hurry || ++pace->since < pace->cycle->ring->capacity / 4) return;
  pace->since = 0;
  pace->hurry = pace->cycle->wait(PACE_NS);
}

static void write_edge(struct ring* ring, uint32_t kind, int64_t begin, int64_t end, uint64_t lost) {
  struct rubato_kernel_record* record = ring_next(ring);
  record->kind = kind;
  record->begin_ns = begin;
  record->end_ns = end;
  record->lost = lost;
  ring_publish(ring);
}

bool cycle_run(struct cycle* cycle, char* why, size_t why_size) {
  const struct cupti* call = &cycle->library->call;
  cupti_subscriber subscriber = NULL;
  struct clock_offset at_begin = {0, 0};
  int status = call->subscribe(&subscriber, never_called, NULL);
  if (status != CUPTI_OK) {
    refused(why, why_size, "cuptiSubscribe", status);
    return false;
  }
  g_call = call;
  atomic_store_explicit(&g_dropped, 0, memory_order_relaxed);
  status = call->register_callbacks(buffers_requested, completed);
  if (status == CUPTI_OK && !clock_measure(call, &at_begin)) status = -1;
  const int64_t begin = now_ns();
  if (status == CUPTI_OK) {
    status = enable_all(cycle);
    if (status != CUPTI_OK) disable_all(cycle);
  }
  if (status != CUPTI_OK) {
    call->unsubscribe(subscriber);
    refused(why, why_size, "switching the recording on", status);
    return false;
  }

  write_edge(cycle->ring, RUBATO_KERNEL_CYCLE_BEGIN, begin, begin, 0);
  if (g_layers_enabled) layers_begin_cycle(call, cycle->number);
  record_until_due(cycle, begin + cycle->settings->on_ns);
  layers_end_cycle();
  const int64_t end = now_ns();
  disable_all(cycle);
  fetch(cycle);

  struct clock_offset at_end = at_begin;
  clock_measure(call, &at_end);
  call->unsubscribe(subscriber);
  marks_flush_handed_over();
  struct pace pace = {cycle, 0, false};
  struct decoder decoder = {call, cycle->ring, cycle->number, clock_between(&at_begin, &at_end),
                            0,    0,           keep_pace,     &pace};
  decode_completed(&decoder);
  write_edge(cycle->ring, RUBATO_KERNEL_CYCLE_END, begin, end,
             atomic_load_explicit(&g_dropped, memory_order_relaxed) + decoder.unusable);
  cycle->kernels = decoder.kernels;
  return true;
}
