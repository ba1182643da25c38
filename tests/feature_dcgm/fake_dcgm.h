// What the fake libdcgm and the engine behind it do and saw; the test finds it in the library by its symbol.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "feature/dcgm/abi.h"

namespace fake {

struct Collected {
  int status = 0;
  std::int64_t at_us = 0;
  double value = 0;
  std::int64_t integer = 0;  // where the type is 'i'
  char type = 'd';
};

struct Dcgm {
  int init = 0;
  int connect = 0;
  int answer = 0;
  std::vector<std::string> uuids{"GPU-0", "GPU-1"};  // its numbers are 7, 8, ...
  std::map<std::uint16_t, Collected> fields;         // of GPU-1; others are not watched
  // Seen:
  std::string address;
  bool unix_socket = false;
  int connections = 0;
  int live_questions = 0;  // of anything but the UUID
};

}  // namespace fake

extern "C" fake::Dcgm* fake_dcgm();
