#include "layers.h"

#include <stdatomic.h>
#include <stddef.h>

#include "ids.h"

enum { DEEPEST = 64 };

struct stack {
  uint32_t slots[DEEPEST];
  unsigned depth; /* may exceed DEEPEST: then the innermost that is kept counts */
  bool told;      /* CUPTI holds one id of this thread */
};

static _Thread_local struct stack t_stack;
static _Atomic bool g_used;
static _Atomic(const struct cupti*) g_call; /* null: no cycle is on */
static _Atomic uint32_t g_cycle;

/* CUPTI's own stack never holds more than one id of ours: what was pushed before a cycle began, or was not
 * popped when it ended, can then do no harm. */
static void tell(struct stack* stack) {
  const struct cupti* call = atomic_load_explicit(&g_call, memory_order_acquire);
  if (call == NULL) return;
  uint64_t last;
  if (stack->told) call->pop_id(CUPTI_CORRELATION_CUSTOM2, &last);
  stack->told = false;
  if (stack->depth == 0) return;
  const uint32_t slot = stack->slots[(stack->depth < DEEPEST ? stack->depth : DEEPEST) - 1];
  const uint64_t cycle = atomic_load_explicit(&g_cycle, memory_order_relaxed);
  stack->told = call->push_id(CUPTI_CORRELATION_CUSTOM2, cycle << 32 | slot) == CUPTI_OK;
}

int layers_push(uint32_t slot) {
  struct stack* stack = &t_stack;
  if (!atomic_load_explicit(&g_used, memory_order_relaxed))
    atomic_store_explicit(&g_used, true, memory_order_relaxed);
  if (stack->depth < DEEPEST) stack->slots[stack->depth] = slot;
  ++stack->depth;
  tell(stack);
  return (int)stack->depth - 1;
}

int layers_pop(void) {
  struct stack* stack = &t_stack;
  if (stack->depth == 0) return -1;
  --stack->depth;
  tell(stack);
  return (int)stack->depth;
}

bool layers_used(void) {
  return atomic_load_explicit(&g_used, memory_order_relaxed);
}

void layers_begin_cycle(const struct cupti* call, uint32_t cycle) {
  atomic_store_explicit(&g_cycle, cycle, memory_order_relaxed);
  atomic_store_explicit(&g_call, call, memory_order_release);
}

void layers_end_cycle(void) {
  atomic_store_explicit(&g_call, NULL, memory_order_relaxed);
}

uint64_t layers_decode(uint64_t external_id, uint32_t cycle) {
  return external_id >> 32 == cycle ? id_in_slot((uint32_t)external_id) : 0;
}
