/* Marks from a C or C++ program: which iteration, epoch, phase or window runs now. Header only, libc only.
 *
 *     #include <rubato/mark.h>
 *     for (i = 0; i < n; ++i) { rubato_iteration_begin(i); step(); rubato_iteration_end(i); }
 *
 * Under `rubato run` and `rubato measure` (which set RUBATO_MARKS) each thread writes to a ring of its own,
 * made at its first mark; otherwise every call returns at once. No call fails, waits or prints. The layout is
 * mark_layout.h. Needs GCC or Clang and POSIX: include it before system headers, or compile with -std=gnu99
 * or -D_DEFAULT_SOURCE.
 */
#ifndef RUBATO_MARK_H
#define RUBATO_MARK_H

#if !defined(_GNU_SOURCE) && !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE 1
#endif

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "rubato/mark_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RUBATO_MARK_NAMES_ 64U

struct rubato_mark_ring_ {
  struct rubato_mark_header* header; /* null: not open */
  struct rubato_mark_record* records;
  uint64_t written;
  unsigned forks; /* of the process when this was opened */
  int refused;    /* no ring can be had: not tried again */
  uint64_t named[RUBATO_MARK_NAMES_];
};

/* Weak: one of each in a program, however many of its files include this. */
__attribute__((weak)) __thread struct rubato_mark_ring_ rubato_mark_ring_;
__attribute__((weak)) unsigned rubato_mark_forks_ = 0;
__attribute__((weak)) int rubato_mark_watches_forks_ = 0;

static void rubato_mark_forked_(void) {
  ++rubato_mark_forks_;
}

static inline int32_t rubato_mark_rank_(void) {
  static const char* const variables[] = {"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"};
  for (unsigned i = 0; i < sizeof variables / sizeof variables[0]; ++i) {
    const char* text = getenv(variables[i]);
    if (text == NULL || *text < '0' || *text > '9') continue;
    char* end;
    const long rank = strtol(text, &end, 10);
    if (*end == '\0' && rank <= INT32_MAX) return (int32_t)rank;
  }
  return -1;
}

static inline int rubato_mark_create_(const char* folder, long tid) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    char path[4096];
    char again[16] = "";
    /* A name is taken where ids come again: after a fork in a container, or by a thread that has ended. */
    if (attempt > 0) snprintf(again, sizeof again, "-%d", attempt);
    const int length = snprintf(path, sizeof path, "%s/%ld-%ld%s.ring", folder, (long)getpid(), tid, again);
    if (length < 0 || (size_t)length >= sizeof path) return -1;
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

static inline int rubato_mark_map_(struct rubato_mark_ring_* ring) {
  const char* folder = getenv(RUBATO_MARKS_ENV);
  if (folder == NULL || *folder == '\0') return 0;
  const size_t size = sizeof(struct rubato_mark_header) +
                      (size_t)RUBATO_MARK_DEFAULT_CAPACITY * sizeof(struct rubato_mark_record);
  /* Beyond `ulimit -f` the program would be killed with SIGXFSZ. */
  struct rlimit largest;
  if (getrlimit(RLIMIT_FSIZE, &largest) == 0 && size > largest.rlim_cur) return 0;
  const long tid = syscall(SYS_gettid);
  const int fd = rubato_mark_create_(folder, tid);
  if (fd < 0) return 0;
  /* Blocks now: a disk that is full later would kill the program with SIGBUS. */
  void* memory = MAP_FAILED;
  if (posix_fallocate(fd, 0, (off_t)size) == 0) {
    memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  close(fd);
  if (memory == MAP_FAILED) return 0;
  struct rubato_mark_header* header = (struct rubato_mark_header*)memory;
  header->version = RUBATO_MARK_VERSION;
  header->header_size = sizeof *header;
  header->record_size = sizeof(struct rubato_mark_record);
  header->capacity = RUBATO_MARK_DEFAULT_CAPACITY;
  header->pid = (int32_t)getpid();
  header->tid = (int32_t)tid;
  header->rank = rubato_mark_rank_();
  __atomic_store_n(&header->magic, RUBATO_MARK_MAGIC, __ATOMIC_RELEASE);
  ring->header = header;
  ring->records = (struct rubato_mark_record*)(void*)(header + 1);
  return 1;
}

/* Makes this thread's ring, as its first mark would. 1: marks are taken; 0: nobody wants them, or none can be
 * had. */
static inline int rubato_mark_open(void) {
  struct rubato_mark_ring_* ring = &rubato_mark_ring_;
  const unsigned forks = __atomic_load_n(&rubato_mark_forks_, __ATOMIC_RELAXED);
  if (ring->forks == forks && (ring->header != NULL || ring->refused)) return ring->header != NULL;
  /* After a fork the mapping is the parent's: it stays mapped and is not written to. */
  memset(ring, 0, sizeof *ring);
  ring->forks = forks;
  const int error = errno;
  if (__atomic_exchange_n(&rubato_mark_watches_forks_, 1, __ATOMIC_RELAXED) == 0) {
    pthread_atfork(NULL, NULL, rubato_mark_forked_);
  }
  ring->refused = !rubato_mark_map_(ring);
  errno = error;
  return !ring->refused;
}

/* For a thread that ends long before its program: gives the ring's memory back. Its marks stay readable. */
static inline void rubato_mark_close(void) {
  struct rubato_mark_ring_* ring = &rubato_mark_ring_;
  if (ring->header != NULL) {
    munmap(ring->header, sizeof *ring->header + ring->header->capacity * sizeof *ring->records);
  }
  memset(ring, 0, sizeof *ring);
}

#if defined(__SANITIZE_THREAD__) && __GNUC__ >= 11
/* GCC warns that its thread sanitizer follows no fences; who reads what this one orders is another process.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
static inline void rubato_mark_write_(uint32_t kind, uint32_t flags, uint64_t id, const uint64_t* detail) {
  if (!rubato_mark_open()) return;
  struct rubato_mark_ring_* ring = &rubato_mark_ring_;
  const uint64_t number = ring->written++;
  struct rubato_mark_record* slot = &ring->records[number & (RUBATO_MARK_DEFAULT_CAPACITY - 1)];
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  __atomic_store_n(&slot->sequence, 0, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  slot->monotonic_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
  slot->kind = kind;
  slot->flags = flags;
  slot->id = id;
  memcpy(slot->detail, detail, sizeof slot->detail);
  __atomic_store_n(&slot->sequence, number + 1, __ATOMIC_RELEASE);
  __atomic_store_n(&ring->header->written, number + 1, __ATOMIC_RELEASE);
}
#if defined(__SANITIZE_THREAD__) && __GNUC__ >= 11
#pragma GCC diagnostic pop
#endif

static inline void rubato_mark_put_(uint32_t kind, uint64_t id, uint64_t detail0, uint64_t detail1) {
  const uint64_t detail[4] = {detail0, detail1, 0, 0};
  rubato_mark_write_(kind, 0, id, detail);
}

/* The id of a name, told to the reader where it may not know it. Names are cut at 1 KiB. */
static inline uint64_t rubato_name(const char* text) {
  uint64_t id = RUBATO_MARK_HASH_OFFSET;
  size_t length = 0;
  for (; text[length] != '\0'; ++length) id = (id ^ (unsigned char)text[length]) * RUBATO_MARK_HASH_PRIME;
  if (!rubato_mark_open()) return id;
  uint64_t* known = &rubato_mark_ring_.named[id % RUBATO_MARK_NAMES_];
  if (*known == id) return id;
  *known = id;
  if (length > 1024) {
    length = 1024;
    while (((unsigned char)text[length] & 0xC0U) == 0x80U) --length; /* not inside a character */
  }
  for (size_t at = 0, part = 0; at < length || part == 0; at += 32, ++part) {
    uint64_t detail[4] = {0, 0, 0, 0};
    memcpy(detail, text + at, length - at < sizeof detail ? length - at : sizeof detail);
    rubato_mark_write_(RUBATO_MARK_NAME, (uint32_t)(part << 16), id, detail);
  }
  return id;
}

static inline void rubato_iteration_begin(uint64_t index) {
  rubato_mark_put_(RUBATO_MARK_ITERATION_BEGIN, index, 0, 0);
}
/* steps: training steps in this iteration (0: one); of_epoch: iterations in the epoch (0: unknown). */
static inline void rubato_iteration_begin_of(uint64_t index, uint64_t steps, uint64_t of_epoch) {
  rubato_mark_put_(RUBATO_MARK_ITERATION_BEGIN, index, steps, of_epoch);
}
static inline void rubato_iteration_end(uint64_t index) {
  rubato_mark_put_(RUBATO_MARK_ITERATION_END, index, 0, 0);
}
/* planned: epochs the training will have (0: unknown). */
static inline void rubato_epoch_begin(uint64_t index, uint64_t planned) {
  rubato_mark_put_(RUBATO_MARK_EPOCH_BEGIN, index, planned, 0);
}
static inline void rubato_epoch_end(uint64_t index) {
  rubato_mark_put_(RUBATO_MARK_EPOCH_END, index, 0, 0);
}
static inline void rubato_training_begin(uint64_t number) {
  rubato_mark_put_(RUBATO_MARK_TRAINING_BEGIN, number, 0, 0);
}
static inline void rubato_training_end(uint64_t number) {
  rubato_mark_put_(RUBATO_MARK_TRAINING_END, number, 0, 0);
}
static inline void rubato_phase_begin(enum rubato_mark_phase phase) {
  rubato_mark_put_(RUBATO_MARK_PHASE_BEGIN, (uint64_t)phase, 0, 0);
}
static inline void rubato_phase_end(enum rubato_mark_phase phase) {
  rubato_mark_put_(RUBATO_MARK_PHASE_END, (uint64_t)phase, 0, 0);
}
static inline void rubato_window_begin(const char* name) {
  rubato_mark_put_(RUBATO_MARK_WINDOW_BEGIN, rubato_name(name), 0, 0);
}
static inline void rubato_window_end(const char* name) {
  rubato_mark_put_(RUBATO_MARK_WINDOW_END, rubato_name(name), 0, 0);
}
static inline void rubato_layer_begin(const char* name) {
  rubato_mark_put_(RUBATO_MARK_LAYER_BEGIN, rubato_name(name), 0, 0);
}
static inline void rubato_layer_end(const char* name) {
  rubato_mark_put_(RUBATO_MARK_LAYER_END, rubato_name(name), 0, 0);
}
/* What is trained from here on, so that a plan of clocks made for another model is not run. parameters: those
 * that are trained; batch: samples in a batch of this process; precision: enum rubato_mark_precision of
 * matrix products. Each 0: not known. */
static inline void rubato_model(const char* name, uint64_t parameters, uint64_t batch, uint64_t precision) {
  const uint64_t detail[4] = {parameters, batch, precision, 0};
  rubato_mark_write_(RUBATO_MARK_MODEL, 0, rubato_name(name), detail);
}
/* One moment. */
static inline void rubato_mark(const char* name) {
  rubato_mark_put_(RUBATO_MARK_POINT, rubato_name(name), 0, 0);
}

#ifdef __cplusplus
}
#endif

#endif
