/* The kernel ring: how a library inside the user's program tells rubato what ran on the GPU and when.
 *
 * One file per producing process, "<pid>-<n>.kernels", in the directory named by RUBATO_MARKS. Header,
 * protocol and rules are those of mark_layout.h with another magic and record; a batch of records is written
 * by one thread at a time. Times are CLOCK_MONOTONIC: the producer converts device times, and says in
 * `clock_error_ns` how well.
 *
 * Plain C so that injected libraries need libc only. Every integer is little-endian native.
 */
#ifndef RUBATO_KERNEL_LAYOUT_H
#define RUBATO_KERNEL_LAYOUT_H

#include <stdint.h>

#define RUBATO_KERNEL_MAGIC 0x314c4e524b425552ULL /* "RUBKRNL1" read as little-endian bytes */
#define RUBATO_KERNEL_VERSION 1U
#define RUBATO_KERNEL_DEFAULT_CAPACITY 32768U /* a power of two: 4 MiB a process */

enum rubato_kernel_kind {
  RUBATO_KERNEL_RUN = 1, /* one kernel */
  RUBATO_KERNEL_GRAPH =
      2, /* one launch of a CUDA graph: begin of its first to end of its last node; name_hash = 0 */
  RUBATO_KERNEL_MEMCPY = 3,      /* name_hash = direction */
  RUBATO_KERNEL_CYCLE_BEGIN = 4, /* from here on kernels are recorded; begin_ns = when */
  /* begin_ns, end_ns: of the whole cycle; nothing is recorded until the next CYCLE_BEGIN; lost = dropped by
     CUPTI */
  RUBATO_KERNEL_CYCLE_END = 5,
};

struct rubato_kernel_record { /* 128 bytes: two cache lines */
  uint64_t sequence;          /* record number + 1; 0 while being written */
  int64_t begin_ns;           /* CLOCK_MONOTONIC */
  int64_t end_ns;
  uint64_t name_hash; /* 64-bit FNV-1a of the mangled name; its text is a NAME mark */
  uint64_t layer;     /* id of the innermost layer, range or phase it was launched in; 0: none known */
  uint64_t lost;      /* records dropped since the previous one */
  uint32_t kind;      /* enum rubato_kernel_kind */
  uint32_t device;    /* CUDA ordinal in that process */
  uint32_t stream;
  uint32_t graph; /* 0: launched alone */
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t clock_error_ns;
  uint32_t flags;          /* RUBATO_MARK_FLAG_… of mark_layout.h */
  uint8_t device_uuid[16]; /* as cuDeviceGetUuid gives it; all zero: unknown */
  uint64_t reserved[2];    /* zero */
};

#ifdef __cplusplus
static_assert(sizeof(struct rubato_kernel_record) == 128, "the kernel layout is fixed");
#else
_Static_assert(sizeof(struct rubato_kernel_record) == 128, "the kernel layout is fixed");
#endif

#endif
