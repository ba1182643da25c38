#include "decode.h"

#include <rubato/kernel_layout.h>
#include <stdbool.h>
#include <string.h>

#include "buffers.h"
#include "device.h"
#include "ids.h"
#include "layers.h"
#include "marks.h"
#include "now.h"

/* Correlation numbers are given in sequence, so that the low bits spread them; a later launch displaces an
 * earlier one. */
enum { CORRELATIONS = 1 << 16 };
struct launched_in {
  uint32_t correlation;
  uint32_t cycle;
  uint64_t layer;
};
static struct launched_in g_launches[CORRELATIONS];

bool clock_measure(const struct cupti* call, struct clock_offset* out) {
  int64_t narrowest = INT64_MAX;
  for (int i = 0; i < 9; ++i) {
    uint64_t cupti;
    const int64_t before = now_ns();
    if (call->timestamp(&cupti) != CUPTI_OK) return false;
    const int64_t after = now_ns();
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    out->monotonic_minus_cupti_ns = before + narrowest / 2 - (int64_t)cupti;
    out->error_ns = (narrowest + 1) / 2;
  }
  return true;
}

struct clock_offset clock_between(const struct clock_offset* begin, const struct clock_offset* end) {
  const int64_t drift = end->monotonic_minus_cupti_ns - begin->monotonic_minus_cupti_ns;
  const int64_t widest = begin->error_ns > end->error_ns ? begin->error_ns : end->error_ns;
  return (struct clock_offset){begin->monotonic_minus_cupti_ns + drift / 2,
                               widest + (drift < 0 ? -drift : drift + 1) / 2};
}

static void remember(const struct cupti_correlation* r, uint32_t cycle) {
  if (r->of != CUPTI_CORRELATION_CUSTOM2) return;
  g_launches[r->correlation % CORRELATIONS] =
      (struct launched_in){r->correlation, cycle, layers_decode(r->id, cycle)};
}

static uint64_t layer_of(uint32_t correlation, uint32_t cycle) {
  const struct launched_in* l = &g_launches[correlation % CORRELATIONS];
  return l->correlation == correlation && l->cycle == cycle ? l->layer : 0;
}

static struct rubato_kernel_record* begin_record(struct decoder* d, uint32_t kind, uint64_t start,
                                                 uint64_t end, uint32_t device) {
  if (start == 0 || end < start) {
    ++d->unusable;
    return NULL;
  }
  struct rubato_kernel_record* out = ring_next(d->ring);
  out->kind = kind;
  out->begin_ns = (int64_t)start + d->clock.monotonic_minus_cupti_ns;
  out->end_ns = (int64_t)end + d->clock.monotonic_minus_cupti_ns;
  out->clock_error_ns = d->clock.error_ns < UINT32_MAX ? (uint32_t)d->clock.error_ns : UINT32_MAX;
  out->device = device;
  device_uuid(device, out->device_uuid);
  return out;
}

static void end_record(struct decoder* d) {
  ring_publish(d->ring);
  ++d->kernels;
  if (d->after_record != NULL) d->after_record(d->user);
}

static void write_kernel(struct decoder* d, const struct cupti_kernel* r) {
  uint64_t name = 0;
  if (r->name != NULL) {
    bool is_new;
    name = id_of_name(r->name);
    id_slot(name, &is_new);
    if (is_new) marks_name(name, r->name);
  }
  struct rubato_kernel_record* out = begin_record(d, RUBATO_KERNEL_RUN, r->start, r->end, r->device);
  if (out == NULL) return;
  out->name_hash = name;
  out->layer = layer_of(r->correlation, d->cycle);
  out->stream = r->stream;
  out->graph = r->graph;
  memcpy(out->grid, r->grid, sizeof out->grid);
  memcpy(out->block, r->block, sizeof out->block);
  end_record(d);
}

static void write_graph(struct decoder* d, const struct cupti_graph* r) {
  struct rubato_kernel_record* out = begin_record(d, RUBATO_KERNEL_GRAPH, r->start, r->end, r->device);
  if (out == NULL) return;
  out->layer = layer_of(r->correlation, d->cycle);
  out->stream = r->stream;
  out->graph = r->graph;
  end_record(d);
}

static void walk(struct decoder* d, uint8_t* buffer, size_t valid, bool correlations) {
  struct cupti_record* record = NULL;
  while (d->call->next_record(buffer, valid, &record) == CUPTI_OK && record != NULL) {
    if (correlations) {
      if (record->kind == CUPTI_KIND_EXTERNAL_CORRELATION)
        remember((const struct cupti_correlation*)record, d->cycle);
    } else if (record->kind == CUPTI_KIND_CONCURRENT_KERNEL) {
      write_kernel(d, (const struct cupti_kernel*)record);
    } else if (record->kind == CUPTI_KIND_GRAPH_TRACE) {
      write_graph(d, (const struct cupti_graph*)record);
    }
  }
}

void decode_completed(struct decoder* d) {
  bool completed[RUBATO_BUFFERS] = {false}; /* one that comes in between is for the next call */
  for (unsigned i = 0; i < RUBATO_BUFFERS; ++i) {
    size_t valid;
    uint8_t* buffer = buffer_completed_at(i, &valid);
    completed[i] = buffer != NULL;
    if (buffer != NULL && layers_used()) walk(d, buffer, valid, true);
  }
  for (unsigned i = 0; i < RUBATO_BUFFERS; ++i) {
    size_t valid;
    uint8_t* buffer = completed[i] ? buffer_completed_at(i, &valid) : NULL;
    if (buffer == NULL) continue;
    walk(d, buffer, valid, false);
    buffer_release(i);
  }
}
