/* Names and their ids: a set of ids that any thread may add to without a lock, so that each name is told
 * once. */
#ifndef RUBATO_INJECT_IDS_H
#define RUBATO_INJECT_IDS_H

#include <stdbool.h>
#include <stdint.h>

#define RUBATO_MOST_IDS 16384U /* a power of two */
#define RUBATO_LONGEST_NAME 1024U

/* 64-bit FNV-1a over the first RUBATO_LONGEST_NAME bytes. Never 0, which means "none". */
uint64_t id_of_name(const char* name);

/* The slot of `id`, from 1; 0 where the set is full. `*is_new`: it was not there. */
uint32_t id_slot(uint64_t id, bool* is_new);
/* 0 where `slot` is none. */
uint64_t id_in_slot(uint32_t slot);

#endif
