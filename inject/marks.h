/* What this library says in marks: names, that it is in place, and why it stepped back. Written by its own
 * thread only; other threads hand names over. */
#ifndef RUBATO_INJECT_MARKS_H
#define RUBATO_INJECT_MARKS_H

#include <stdint.h>

/* Of the thread that calls the rest; makes its ring in `folder` with the first mark. */
void marks_open(const char* folder);
void marks_name(uint64_t id, const char* name);
void marks_hook(const char* what);
/* One sentence, for the user's report. */
void marks_problem(const char* sentence);

/* From any thread: the name is written with the next marks_flush_handed_over(). Dropped where too many wait.
 */
void marks_hand_over(uint64_t id, const char* name);
void marks_flush_handed_over(void);

#endif
