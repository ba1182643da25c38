#include "ids.h"

#include <rubato/mark_layout.h>
#include <stdatomic.h>

static _Atomic uint64_t g_ids[RUBATO_MOST_IDS];

uint64_t id_of_name(const char* name) {
  uint64_t hash = RUBATO_MARK_HASH_OFFSET;
  for (uint32_t i = 0; i < RUBATO_LONGEST_NAME && name[i] != '\0'; ++i) {
    hash = (hash ^ (uint8_t)name[i]) * RUBATO_MARK_HASH_PRIME;
  }
  return hash != 0 ? hash : 1;
}

uint32_t id_slot(uint64_t id, bool* is_new) {
  *is_new = false;
  if (id == 0) return 0;
  /* Probing ends early: a set so full is as good as full, and nobody waits for a search of all of it. */
  for (uint32_t probe = 0; probe < 64; ++probe) {
    const uint32_t at = (uint32_t)(id + probe) & (RUBATO_MOST_IDS - 1);
    uint64_t there = atomic_load_explicit(&g_ids[at], memory_order_relaxed);
    if (there == 0 && atomic_compare_exchange_strong_explicit(&g_ids[at], &there, id, memory_order_relaxed,
                                                              memory_order_relaxed)) {
      *is_new = true;
      return at + 1;
    }
    if (there == id) return at + 1;
  }
  return 0;
}

uint64_t id_in_slot(uint32_t slot) {
  return slot == 0 || slot > RUBATO_MOST_IDS ? 0
                                             : atomic_load_explicit(&g_ids[slot - 1], memory_order_relaxed);
}
