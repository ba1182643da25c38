/* NVTX ranges of the program as layers: the ranges of the default domain that are pushed and popped, which is
 * what PyTorch and most programs use. Ranges of other domains nest by themselves and are left out.
 *
 * The numbers are those of nvtxDetail/nvtxTypes.h of NVTX 3; its function tables are the same since
 * version 2. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "ids.h"
#include "layers.h"
#include "marks.h"
#include "settings.h"

enum { EXPORT_CALLBACKS = 1, MODULE_CORE = 1 };
enum { RANGE_PUSH_EX = 8, RANGE_PUSH_A = 9, RANGE_PUSH_W = 10, RANGE_POP = 11 };
enum { MESSAGE_ASCII = 1 };

typedef void (*function)(void);

struct callbacks_table {
  size_t size;
  int (*get_functions)(int module, function*** table, unsigned* count);
};

struct event_attributes {
  uint16_t version;
  uint16_t size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type;
  int32_t reserved;
  uint64_t payload;
  int32_t message_type;
  const void* message;
};
_Static_assert(offsetof(struct event_attributes, message) == 40, "as in nvToolsExt.h");

static int push(const char* name) {
  if (name == NULL) return layers_push(0);
  bool is_new;
  const uint64_t id = id_of_name(name);
  const uint32_t slot = id_slot(id, &is_new);
  if (is_new) marks_hand_over(id, name);
  return layers_push(slot);
}

static int range_push_ex(const struct event_attributes* event) {
  const bool ascii = event != NULL && event->size >= sizeof *event && event->message_type == MESSAGE_ASCII;
  return push(ascii ? event->message : NULL);
}

/* Without a name, but it has to be pushed: it will be popped. */
static int range_push_w(const wchar_t* name) {
  (void)name;
  return push(NULL);
}

static void hook(function** table, unsigned count, unsigned at, function ours) {
  if (at < count && table[at] != NULL) *table[at] = ours;
}

/* NVTX calls this once for each library that contains it, at its first range. 0: it goes on without us. */
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    const void* (*get_export_table)(uint32_t)) {
  struct settings settings;
  if (settings_parse(getenv(RUBATO_KERNELS_ENV), &settings) != SETTINGS_ON) return 0;
  const struct callbacks_table* callbacks = get_export_table(EXPORT_CALLBACKS);
  if (callbacks == NULL || callbacks->size < sizeof *callbacks) return 0;
  function** table;
  unsigned count;
  if (!callbacks->get_functions(MODULE_CORE, &table, &count)) return 0;
  hook(table, count, RANGE_PUSH_EX, (function)range_push_ex);
  hook(table, count, RANGE_PUSH_A, (function)push);
  hook(table, count, RANGE_PUSH_W, (function)range_push_w);
  hook(table, count, RANGE_POP, (function)layers_pop);
  return 1;
}
