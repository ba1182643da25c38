/* A C99 program's marks, beside those of C++ in the same thread. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif
void mark_from_c(void);
void mark_window_from_c(const char* name);
#ifdef __cplusplus
}
#endif
