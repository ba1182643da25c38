#define _GNU_SOURCE
#include "tracer.h"

#include <errno.h>
#include <pthread.h>
#include <rubato/kernel_layout.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cycle.h"
#include "library.h"
#include "marks.h"
#include "now.h"

enum { LONGEST_STOP_NS = 1000000000 };

static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool stop;
  bool running;
  pid_t owner;
  char* folder;
  char* bad_value;
  struct settings settings;
} g = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct timespec timespec_of(int64_t ns) {
  return (struct timespec){ns / 1000000000, (long)(ns % 1000000000)};
}

static bool wait_for_stop(int64_t ns) {
  const struct timespec until = timespec_of(now_ns() + ns);
  pthread_mutex_lock(&g.lock);
  while (!g.stop && pthread_cond_timedwait(&g.changed, &g.lock, &until) != ETIMEDOUT) {
  }
  const bool stop = g.stop;
  pthread_mutex_unlock(&g.lock);
  return stop;
}

static void stop_at_exit(void) {
  if (getpid() != g.owner) return; /* a forked child has no such thread */
  const struct timespec until = timespec_of(now_ns() + LONGEST_STOP_NS);
  pthread_mutex_lock(&g.lock);
  g.stop = true;
  pthread_cond_broadcast(&g.changed);
  while (g.running && pthread_cond_timedwait(&g.changed, &g.lock, &until) != ETIMEDOUT) {
  }
  pthread_mutex_unlock(&g.lock);
}

/* One for each process that takes this id, as ids are used again. */
static bool make_kernel_ring(struct ring* ring) {
  const struct ring_layout layout = {RUBATO_KERNEL_MAGIC, RUBATO_KERNEL_VERSION,
                                     sizeof(struct rubato_kernel_record), RUBATO_KERNEL_DEFAULT_CAPACITY};
  for (int n = 0; n < 16; ++n) {
    char path[4096];
    const int length = snprintf(path, sizeof path, "%s/%d-%d.kernels", g.folder, (int)getpid(), n);
    if (length < 0 || (size_t)length >= sizeof path) return false;
    if (ring_create(ring, path, &layout)) return true;
    if (errno != EEXIST) return false;
  }
  return false;
}

static void say_in_place(const struct library* library) {
  char what[160];
  const char* name = strrchr(library->path, '/');
  snprintf(what, sizeof what, "cupti %u (%.100s)", library->version, name != NULL ? name + 1 : library->path);
  marks_hook(what);
}

static void record_cycles(void) {
  static struct library library;
  static struct ring ring;
  char why[4400];
  uint32_t number = 0;
  int64_t due = now_ns() + g.settings.on_ns;
  for (;;) {
    const int64_t wait = due - now_ns();
    if (wait_for_stop(wait > 0 ? wait : 0)) return;
    if (number == 0) {
      /* Only now: the libraries of a framework come long after CUDA's first call. */
      if (!library_open(&library, why, sizeof why)) {
        char sentence[sizeof why + 64];
        snprintf(sentence, sizeof sentence, "kernels are not recorded: %s", why);
        marks_problem(sentence);
        return;
      }
      /* Now, and not earlier: the last handler registered runs first, and CUPTI, open since a moment, has its
       * own. */
      atexit(stop_at_exit);
      if (!make_kernel_ring(&ring)) {
        snprintf(why, sizeof why, "kernels are not recorded: no ring could be made in %.200s: %s", g.folder,
                 strerror(errno));
        marks_problem(why);
        return;
      }
    }
    const int64_t begin = now_ns();
    struct cycle cycle = {&library, &ring, &g.settings, ++number, wait_for_stop, 0};
    if (!cycle_run(&cycle, why, sizeof why)) {
      marks_problem(why);
      return;
    }
    if (number == 1) say_in_place(&library);
    /* A cycle in which nothing ran does not count: the program may still be loading its data. */
    due = begin + (cycle.kernels > 0 ? g.settings.period_ns : 2 * g.settings.on_ns);
  }
}

static void* run(void* unused) {
  (void)unused;
  /* Behind the program, but not last of all: at its end it waits for this thread, on a full machine too. */
  setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 10);
  marks_open(g.folder);
  if (g.bad_value != NULL) {
    char sentence[256];
    snprintf(sentence, sizeof sentence,
             "kernels are not recorded: " RUBATO_KERNELS_ENV " is '%.60s', needed is for example 2s/60s",
             g.bad_value);
    marks_problem(sentence);
  } else {
    record_cycles();
  }
  pthread_mutex_lock(&g.lock);
  g.running = false;
  pthread_cond_broadcast(&g.changed);
  pthread_mutex_unlock(&g.lock);
  return NULL;
}

void tracer_start(const char* folder, const struct settings* settings, const char* bad_value) {
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&g.changed, &monotonic);
  pthread_condattr_destroy(&monotonic);
  g.folder = strdup(folder);
  g.bad_value = bad_value != NULL ? strdup(bad_value) : NULL;
  g.settings = *settings;
  g.owner = getpid();
  if (g.folder == NULL) return;

  /* The program's signals are for its own threads. */
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  g.running = true;
  if (pthread_create(&thread, NULL, run, NULL) == 0) {
    pthread_setname_np(thread, "rubato-inject");
    pthread_detach(thread);
  } else {
    g.running = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}
