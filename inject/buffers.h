/* The buffers CUPTI fills: a fixed number, taken and given back without a lock, since CUPTI asks for them on
 * the threads of the training. When they are used up CUPTI drops records and counts them. */
#ifndef RUBATO_INJECT_BUFFERS_H
#define RUBATO_INJECT_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUBATO_BUFFERS 16U
#define RUBATO_BUFFER_BYTES (1U << 20)

/* CUPTI's two callbacks. */
void buffers_requested(uint8_t** buffer, size_t* size, size_t* most_records);
void buffers_completed(void* context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid);

/* Neither with CUPTI nor waiting to be read. */
unsigned buffers_free(void);
/* CUPTI still fills them. */
unsigned buffers_given(void);
/* The `index`th buffer if it was completed: its valid bytes. Its content stays until buffer_release(). */
uint8_t* buffer_completed_at(unsigned index, size_t* valid);
void buffer_release(unsigned index);

#endif
