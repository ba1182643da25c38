// A pseudo-terminal that answers as an MCP39F511N does, and fails as the test says. Written from the
// protocol, not from the reader: it parses requests by itself.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "base/units.h"

namespace rubato::meter::testing {

enum class Answering {
  well,
  silently,
  after_garbage,  // noise, then a good packet
  garbage,
  half,
  wrong_checksum,
  wrong_checksum_once,  // the next answer only
  refusing,             // NAK
  slowly,               // one byte at a time
};

class FakeMcp {
 public:
  FakeMcp();
  ~FakeMcp();
  FakeMcp(const FakeMcp&) = delete;
  FakeMcp& operator=(const FakeMcp&) = delete;

  [[nodiscard]] const std::string& device() const { return device_; }
  void answer(Answering how) { how_ = how; }
  /// Bytes of the register file, lowest byte of a value first.
  void set(std::uint16_t address, std::uint64_t value, std::size_t bytes);
  [[nodiscard]] unsigned requests() const { return requests_; }
  /// Of them, those that were anything but a well-formed register read.
  [[nodiscard]] unsigned refused() const { return refused_; }

 private:
  void serve();
  void reply_to(const std::vector<std::uint8_t>& request);
  void send(const std::vector<std::uint8_t>& bytes);

  ScopedFd master_;
  ScopedFd slave_;  // held open, or the master would see a hang-up between two openings
  ScopedFd stop_read_, stop_write_;
  std::string device_;
  std::atomic<Answering> how_{Answering::well};
  std::atomic<unsigned> requests_{0};
  std::atomic<unsigned> refused_{0};
  std::mutex guard_;
  std::map<std::uint16_t, std::uint8_t> registers_;
  std::thread thread_;
};

}  // namespace rubato::meter::testing
