#include "conduct/energy_board.h"

#include <fcntl.h>
#include <rubato/energy_layout.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace rubato::conduct {
namespace {

void put(int fd, const void* bytes, std::size_t size, off_t offset) {
  while (::pwrite(fd, bytes, size, offset) < 0 && errno == EINTR) {
  }
}

template <std::size_t N>
void put_text(char (&field)[N], std::string_view text) {
  std::memcpy(field, text.data(), std::min(text.size(), N - 1));
}

rubato_energy_record record_of(const std::optional<EnergyWindow>& energy, const std::optional<Watts>& power) {
  rubato_energy_record r{};
  if (energy) {
    r.flags |= RUBATO_ENERGY_KNOWN;
    r.energy_j = energy->energy.value();
    r.band_sampling_j = energy->band_sampling.value();
    r.band_calibration_j = energy->band_calibration.value();
  }
  if (power) {
    r.flags |= RUBATO_ENERGY_POWER;
    r.power_w = power->value();
  }
  return r;
}

rubato_energy_record record_of(const GpuNow& gpu) {
  rubato_energy_record r = record_of(gpu.energy, gpu.power);
  put_text(r.name, gpu.uuid);
  put_text(r.scope, name_of(Scope::gpu));
  if (gpu.kind != Kind::measured) r.flags |= RUBATO_ENERGY_MODELLED;
  return r;
}

rubato_energy_record record_of(const ChannelNow& channel) {
  rubato_energy_record r = record_of(channel.energy, channel.power);
  put_text(r.name, cat(channel.meter, "\t", channel.channel));
  put_text(r.scope, name_of(channel.scope));
  return r;
}

}  // namespace

Result<EnergyBoard> EnergyBoard::create(const std::filesystem::path& folder, std::size_t most,
                                        double clock_rate) {
  const std::filesystem::path file = folder / RUBATO_ENERGY_FILE;
  ScopedFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.is_open()) return fail(from_errno(errno, cat("cannot make ", file.string())));
  EnergyBoard board(std::move(fd), most, clock_rate);
  board.publish(0, {});
  return board;
}

void EnergyBoard::publish(std::int64_t monotonic_ns, std::span<const GpuNow> gpus,
                          std::span<const ChannelNow> channels) {
  std::vector<rubato_energy_record> records;
  for (const GpuNow& gpu : gpus) records.push_back(record_of(gpu));
  records.resize(std::min(records.size(), most_));
  const std::size_t of_gpus = records.size();
  for (const ChannelNow& channel : channels) records.push_back(record_of(channel));
  records.resize(std::min(records.size(), most_));
  rubato_energy_header header{};
  header.magic = RUBATO_ENERGY_MAGIC;
  header.version = RUBATO_ENERGY_VERSION;
  header.header_size = sizeof header;
  header.record_size = sizeof(rubato_energy_record);
  header.gpus = static_cast<std::uint32_t>(of_gpus);
  header.channels = static_cast<std::uint32_t>(records.size() - of_gpus);
  header.monotonic_ns = monotonic_ns;
  header.clock_rate = clock_rate_;
  // Odd before anything else changes, even after everything has.
  const std::uint64_t odd = sequence_ + 1;
  put(file_.get(), &odd, sizeof odd, offsetof(rubato_energy_header, sequence));
  put(file_.get(), records.data(), records.size() * sizeof(rubato_energy_record), sizeof header);
  header.sequence = odd;
  put(file_.get(), &header, sizeof header, 0);
  sequence_ += 2;
  put(file_.get(), &sequence_, sizeof sequence_, offsetof(rubato_energy_header, sequence));
}

}  // namespace rubato::conduct
