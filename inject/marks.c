#include "marks.h"

#include <pthread.h>
#include <rubato/mark_layout.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ids.h"
#include "now.h"
#include "ring.h"

/* A training has a few hundred kernels whose names take some ten marks each, all at once after the first
 * cycle. */
#define MARKS_CAPACITY 16384U
#define MOST_HANDED_OVER 1024U

struct handed_over {
  struct handed_over* next;
  uint64_t id;
  char name[];
};

static const char* g_folder;
static struct ring g_ring;
static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static struct handed_over* g_first;
static unsigned g_waiting;

void marks_open(const char* folder) {
  g_folder = folder;
}

static struct rubato_mark_record* begin_mark(uint32_t kind, uint64_t id) {
  if (g_ring.map == NULL) {
    char path[4096];
    const int length =
        snprintf(path, sizeof path, "%s/%d-%d.ring", g_folder, (int)getpid(), (int)syscall(SYS_gettid));
    const struct ring_layout layout = {RUBATO_MARK_MAGIC, RUBATO_MARK_VERSION,
                                       sizeof(struct rubato_mark_record), MARKS_CAPACITY};
    if (length < 0 || (size_t)length >= sizeof path || !ring_create(&g_ring, path, &layout)) return NULL;
  }
  struct rubato_mark_record* mark = ring_next(&g_ring);
  mark->monotonic_ns = now_ns();
  mark->kind = kind;
  mark->id = id;
  return mark;
}

void marks_name(uint64_t id, const char* name) {
  const size_t length = strnlen(name, RUBATO_LONGEST_NAME);
  const size_t part = sizeof((struct rubato_mark_record*)0)->detail;
  for (size_t at = 0; at < length; at += part) {
    struct rubato_mark_record* mark = begin_mark(RUBATO_MARK_NAME, id);
    if (mark == NULL) return;
    mark->flags = (uint32_t)(at / part) << 16;
    memcpy(mark->detail, name + at, length - at < part ? length - at : part);
    ring_publish(&g_ring);
  }
}

static void say(uint32_t kind, const char* what) {
  const uint64_t id = id_of_name(what);
  marks_name(id, what);
  if (begin_mark(kind, id) != NULL) ring_publish(&g_ring);
}

void marks_hook(const char* what) {
  say(RUBATO_MARK_HOOK, what);
}

void marks_problem(const char* sentence) {
  say(RUBATO_MARK_PROBLEM, sentence);
}

void marks_hand_over(uint64_t id, const char* name) {
  const size_t length = strnlen(name, RUBATO_LONGEST_NAME);
  struct handed_over* entry = malloc(sizeof *entry + length + 1);
  if (entry == NULL) return;
  entry->id = id;
  memcpy(entry->name, name, length);
  entry->name[length] = '\0';
  pthread_mutex_lock(&g_lock);
  if (g_waiting < MOST_HANDED_OVER) {
    entry->next = g_first;
    g_first = entry;
    ++g_waiting;
    entry = NULL;
  }
  pthread_mutex_unlock(&g_lock);
  free(entry);
}

void marks_flush_handed_over(void) {
  pthread_mutex_lock(&g_lock);
  struct handed_over* entry = g_first;
  g_first = NULL;
  g_waiting = 0;
  pthread_mutex_unlock(&g_lock);
  while (entry != NULL) {
    struct handed_over* next = entry->next;
    marks_name(entry->id, entry->name);
    free(entry);
    entry = next;
  }
}
