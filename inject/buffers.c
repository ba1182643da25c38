#include "buffers.h"

#include <stdatomic.h>
#include <stdlib.h>

enum state { FREE, GIVEN, COMPLETED };

struct slot {
  _Atomic int state;
  _Atomic(uint8_t*) bytes; /* made at first use, kept: they are asked for on the training's threads */
  size_t valid;
};

static struct slot g_slots[RUBATO_BUFFERS];

void buffers_requested(uint8_t** buffer, size_t* size, size_t* most_records) {
  *buffer = NULL;
  *size = 0;
  *most_records = 0; /* as many as fit */
  for (unsigned i = 0; i < RUBATO_BUFFERS; ++i) {
    struct slot* slot = &g_slots[i];
    int expected = FREE;
    if (!atomic_compare_exchange_strong_explicit(&slot->state, &expected, GIVEN, memory_order_acquire,
                                                 memory_order_relaxed))
      continue;
    uint8_t* bytes = atomic_load_explicit(&slot->bytes, memory_order_relaxed);
    if (bytes == NULL) {
      bytes = malloc(RUBATO_BUFFER_BYTES);
      atomic_store_explicit(&slot->bytes, bytes, memory_order_release);
    }
    if (bytes == NULL) {
      atomic_store_explicit(&slot->state, FREE, memory_order_release);
      return;
    }
    *buffer = bytes;
    *size = RUBATO_BUFFER_BYTES;
    return;
  }
}

void buffers_completed(void* context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid) {
  (void)context;
  (void)stream;
  for (unsigned i = 0; i < RUBATO_BUFFERS; ++i) {
    struct slot* slot = &g_slots[i];
    if (buffer == NULL || atomic_load_explicit(&slot->bytes, memory_order_acquire) != buffer) continue;
    slot->valid = valid <= size && size <= RUBATO_BUFFER_BYTES ? valid : 0;
    atomic_store_explicit(&slot->state, COMPLETED, memory_order_release);
    return;
  }
}

static unsigned count(int state) {
  unsigned n = 0;
  for (unsigned i = 0; i < RUBATO_BUFFERS; ++i)
    n += atomic_load_explicit(&g_slots[i].state, memory_order_acquire) == state;
  return n;
}

unsigned buffers_free(void) {
  return count(FREE);
}

unsigned buffers_given(void) {
  return count(GIVEN);
}

uint8_t* buffer_completed_at(unsigned index, size_t* valid) {
  struct slot* slot = &g_slots[index];
  if (atomic_load_explicit(&slot->state, memory_order_acquire) != COMPLETED) return NULL;
  *valid = slot->valid;
  return atomic_load_explicit(&slot->bytes, memory_order_relaxed);
}

void buffer_release(unsigned index) {
  atomic_store_explicit(&g_slots[index].state, FREE, memory_order_release);
}
