/* The mark ring: how a library inside the user's program tells rubato "an iteration began".
 *
 * One file per producing thread, "<pid>-<tid>.ring", in the directory named by the environment variable
 * RUBATO_MARKS. A file is a header followed by `capacity` records; it is mapped shared by producer and
 * reader. Single producer, any number of readers, no locks: the producer never waits. A full ring drops its
 * oldest records; a reader sees the loss as a gap in `sequence`. The producer keeps the mapping for as long
 * as it marks: a file that nobody can write to any more is read to its end, and removed.
 *
 * Writing record number n (n = 0, 1, ...), slot n % capacity:
 *   1. slot.sequence = 0            (relaxed, then a release fence)  the slot is being rewritten
 *   2. all other fields
 *   3. slot.sequence = n + 1        (release)
 *   4. header.written = n + 1       (release)
 * Reading record n: acquire-load sequence, copy the slot, fence, load sequence again; both must be n + 1.
 * A reader trusts nothing: sizes, capacity and indices are checked against the file it mapped.
 *
 * Plain C so that injected libraries need libc only. Every integer is little-endian native.
 */
#ifndef RUBATO_MARK_LAYOUT_H
#define RUBATO_MARK_LAYOUT_H

#include <stdint.h>

#define RUBATO_MARKS_ENV "RUBATO_MARKS"
#define RUBATO_MARK_MAGIC 0x314b52414d425552ULL /* "RUBMARK1" read as little-endian bytes */
#define RUBATO_MARK_VERSION 1U
#define RUBATO_MARK_DEFAULT_CAPACITY 4096U /* a power of two: 256 KiB a thread */

/* What a mark says. Begin and end of one thing share `id`. New kinds go to the end, none is renumbered.
 * `detail` is zero unless the kind says otherwise. */
enum rubato_mark_kind {
  /* id = iteration index; detail[0] = training steps in it (0: one); detail[1] = iterations in this epoch
   * where the program knows (0: it does not) */
  RUBATO_MARK_ITERATION_BEGIN = 1,
  RUBATO_MARK_ITERATION_END = 2,
  RUBATO_MARK_EPOCH_BEGIN = 3, /* id = epoch index from 0; detail[0] = epochs planned (0: unknown) */
  RUBATO_MARK_EPOCH_END = 4,
  RUBATO_MARK_PHASE_BEGIN = 5, /* id = enum rubato_mark_phase */
  RUBATO_MARK_PHASE_END = 6,
  RUBATO_MARK_LAYER_BEGIN = 7, /* id = hash of the layer's name */
  RUBATO_MARK_LAYER_END = 8,
  RUBATO_MARK_NAME = 9, /* id = what is named; detail = 32 bytes of UTF-8, part number `flags` >> 16 */
  RUBATO_MARK_WINDOW_BEGIN = 10, /* the user's own; id = hash of its name; windows may overlap and nest */
  RUBATO_MARK_WINDOW_END = 11,
  RUBATO_MARK_TRAINING_BEGIN = 12, /* one call of fit() or train(); id counts them */
  RUBATO_MARK_TRAINING_END = 13,
  RUBATO_MARK_HOOK = 14,    /* a framework's hook is in place; id = hash of its name, "keras 3.6 (jax)" */
  RUBATO_MARK_PROBLEM = 15, /* a hook failed and stepped back; id = hash of a sentence, named before */
  RUBATO_MARK_POINT = 16,   /* rubato.mark("name"): one moment; id = hash of its name */
  /* What is trained from here on; id = hash of the model's name (0: none); detail[0] = parameters that are
   * trained, detail[1] = samples in a batch of this process, detail[2] = enum rubato_mark_precision; each 0:
   * not known */
  RUBATO_MARK_MODEL = 17,
};
/* The hash of a name, wherever an id is one: 64-bit FNV-1a over its UTF-8 bytes. A producer writes its NAME
 * marks before the first mark that uses the id. */
#define RUBATO_MARK_HASH_OFFSET 0xcbf29ce484222325ULL
#define RUBATO_MARK_HASH_PRIME 0x100000001b3ULL

/* Host phases: when the program *launched* the work, which the GPU may do later. */
enum rubato_mark_phase {
  RUBATO_PHASE_FORWARD = 1,
  RUBATO_PHASE_BACKWARD = 2,
  RUBATO_PHASE_OPTIMIZER = 3,
  RUBATO_PHASE_DATA = 4,
  RUBATO_PHASE_EVALUATION = 5,
  RUBATO_PHASE_CHECKPOINT = 6,
  RUBATO_PHASE_COMMUNICATION = 7,
};

/* What matrix products are computed in. */
enum rubato_mark_precision {
  RUBATO_PRECISION_FP32 = 1,
  RUBATO_PRECISION_TF32 = 2,
  RUBATO_PRECISION_FP16 = 3,
  RUBATO_PRECISION_BF16 = 4,
};

#define RUBATO_MARK_FLAG_SIMULATED 1U /* written by the simulated trainer, on the simulated world's clock */

struct rubato_mark_record { /* 64 bytes: one cache line */
  uint64_t sequence;        /* record number + 1; 0 while being written */
  int64_t monotonic_ns;     /* CLOCK_MONOTONIC */
  uint32_t kind;            /* enum rubato_mark_kind; a reader skips what it does not know */
  uint32_t flags;
  uint64_t id;
  uint64_t detail[4];
};

struct rubato_mark_header { /* 128 bytes */
  uint64_t magic;
  uint32_t version;
  uint32_t header_size; /* 128 */
  uint32_t record_size; /* 64 */
  uint32_t capacity;    /* records; a power of two */
  int32_t pid;
  int32_t tid;
  int32_t rank; /* of a distributed training, from RANK, SLURM_PROCID or OMPI_COMM_WORLD_RANK; -1: none */
  uint32_t reserved0;
  uint64_t reserved1[3];
  uint64_t written; /* records ever written; on the second cache line, apart from what never changes */
  uint64_t reserved2[7];
};

#ifdef __cplusplus
static_assert(sizeof(struct rubato_mark_record) == 64, "the mark layout is fixed");
static_assert(sizeof(struct rubato_mark_header) == 128, "the mark layout is fixed");
#else
_Static_assert(sizeof(struct rubato_mark_record) == 64, "the mark layout is fixed");
_Static_assert(sizeof(struct rubato_mark_header) == 128, "the mark layout is fixed");
#endif

#endif
