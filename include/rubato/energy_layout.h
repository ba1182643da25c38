/* The energy board: how a program that runs under rubato learns what it has drawn so far, without a call into
 * any driver. One file "energy.board" in the directory named by RUBATO_MARKS, written by rubato about four
 * times a second. Header, then `gpus` records, then `channels` records of the meters that stand beside the
 * GPUs (--meter). A reader copies the whole file; `sequence` must be even, and the same after copying.
 *
 * Plain C. Every integer is little-endian native.
 */
#ifndef RUBATO_ENERGY_LAYOUT_H
#define RUBATO_ENERGY_LAYOUT_H

#include <stdint.h>

#define RUBATO_ENERGY_FILE "energy.board"
#define RUBATO_ENERGY_MAGIC 0x314752454e425552ULL /* "RUBNERG1" read as little-endian bytes */
#define RUBATO_ENERGY_VERSION 1U

enum rubato_energy_flag {
  RUBATO_ENERGY_KNOWN = 1,   /* energy_j and its bands hold something */
  RUBATO_ENERGY_POWER = 2,   /* power_w holds something */
  RUBATO_ENERGY_MODELLED = 4 /* by a simulated GPU, or replayed from a table: nothing was measured */
};

struct rubato_energy_header { /* 64 bytes */
  uint64_t magic;
  uint32_t version;
  uint32_t header_size; /* 64 */
  uint32_t record_size; /* 128 */
  uint32_t gpus;
  uint64_t sequence;    /* odd while it is being written */
  int64_t monotonic_ns; /* CLOCK_MONOTONIC of the moment up to which energy is counted */
  double clock_rate;    /* seconds of the run's clock per second of the wall; 1 on real GPUs */
  uint32_t channels;
  uint32_t reserved0; /* zero */
  uint64_t reserved;  /* zero */
};

struct rubato_energy_record { /* 128 bytes: one GPU of the job, or one channel of a meter */
  char name[64];              /* UUID; of a channel METER, a tab, CHANNEL; ends with a zero */
  double energy_j;            /* since the run began; of a channel since its first reading */
  double band_sampling_j;     /* half widths, 95 % */
  double band_calibration_j;
  double power_w; /* the latest reading; of a channel that counts energy alone, its latest change */
  uint32_t flags; /* enum rubato_energy_flag */
  uint32_t reserved0;
  char scope[24]; /* "gpu", "cpu_package", "dram", ...: scopes may hold one another, and are never added */
};

#ifdef __cplusplus
static_assert(sizeof(struct rubato_energy_header) == 64, "the energy layout is fixed");
static_assert(sizeof(struct rubato_energy_record) == 128, "the energy layout is fixed");
#else
_Static_assert(sizeof(struct rubato_energy_header) == 64, "the energy layout is fixed");
_Static_assert(sizeof(struct rubato_energy_record) == 128, "the energy layout is fixed");
#endif

#endif
