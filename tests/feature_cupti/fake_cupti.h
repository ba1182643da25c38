// What the fake libcupti and libcuda do and saw; the test finds it in the fake library by its symbol.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fake {

struct Cupti {
  // libcuda
  int cuda_init = 0;
  int driver_version = 13000;
  std::vector<std::string> pci_bus_ids{"0000:1B:00.0"};
  // libcupti
  std::uint32_t version = 130000;
  std::map<std::string, int> results;  // by symbol; what is not named succeeds
  std::string chip = "GH100";
  std::size_t most_metrics = 100;        // in one pass
  std::vector<std::string> unknown;      // beginnings of metrics that the chip lacks
  std::map<std::string, double> values;  // by metric; others read 50
  // Records in the hardware buffer, ns each; handed out once.
  std::vector<std::uint64_t> records;
  std::size_t room = 256;  // records in one image
  bool overflow = false;
  // Seen:
  int hosts = 0;
  int enabled = 0;
  int started = 0;
  std::size_t device = 99;
  std::uint64_t interval = 0;
  std::int32_t trigger = -1;
};

}  // namespace fake

extern "C" fake::Cupti* fake_cupti();
