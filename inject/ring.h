/* One ring file as include/rubato/mark_layout.h and kernel_layout.h lay it out. Of one thread. */
#ifndef RUBATO_INJECT_RING_H
#define RUBATO_INJECT_RING_H

#include <stdbool.h>
#include <stdint.h>

struct ring {
  void* map; /* null: there is none */
  uint32_t capacity;
  uint32_t record_size;
  uint64_t written;
};

struct ring_layout {
  uint64_t magic;
  uint32_t version;
  uint32_t record_size;
  uint32_t capacity; /* a power of two */
};

/* False, with errno, where the file cannot be made in full: a full disk must not be a SIGBUS later. */
bool ring_create(struct ring* ring, const char* path, const struct ring_layout* layout);

/* The slot of the next record, its sequence taken away; fill in all but the sequence, then ring_publish(). */
void* ring_next(struct ring* ring);
void ring_publish(struct ring* ring);

#endif
