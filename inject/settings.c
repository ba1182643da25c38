#include "settings.h"

#include <stdlib.h>
#include <string.h>

/* Digits and a unit; moves `*text` behind them. Negative: it is none. */
static int64_t parse_time(const char** text) {
  char* end;
  if (**text < '0' || **text > '9') return -1;
  const unsigned long long count = strtoull(*text, &end, 10);
  if (count > 86400000ULL) return -1;
  int64_t unit;
  if (end[0] == 'm' && end[1] == 's') {
    unit = 1000000;
    end += 2;
  } else if (end[0] == 's') {
    unit = 1000000000;
    end += 1;
  } else {
    return -1;
  }
  *text = end;
  return (int64_t)count * unit;
}

enum settings_answer settings_parse(const char* text, struct settings* out) {
  if (text == NULL || *text == '\0' || strcmp(text, "off") == 0 || strcmp(text, "0") == 0)
    return SETTINGS_OFF;
  out->on_ns = parse_time(&text);
  if (out->on_ns <= 0 || *text != '/') return SETTINGS_BAD;
  ++text;
  out->period_ns = parse_time(&text);
  if (out->period_ns < out->on_ns) return SETTINGS_BAD;
  out->graph_nodes = strcmp(text, ",nodes") == 0;
  return *text == '\0' || out->graph_nodes ? SETTINGS_ON : SETTINGS_BAD;
}
