#include "conduct/energy_board.h"

#include <fcntl.h>
#include <rubato/energy_layout.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/text.h"

namespace rubato::conduct {
namespace {

void put(int fd, const void* bytes, std::size_t size, off_t offset) {
  while (::pwrite(fd, bytes, size, offset) < 0 && errno == EINTR) {
  }
}

rubato_energy_record record_of(const GpuNow& gpu) {
  rubato_energy_record r{};
  std::memcpy(r.uuid, gpu.uuid.data(), std::min(gpu.uuid.size(), sizeof r.uuid - 1));
  if (gpu.energy) {
    r.flags |= RUBATO_ENERGY_KNOWN;
    r.energy_j = gpu.energy->energy.value();
    r.band_sampling_j = gpu.energy->band_sampling.value();
    r.band_calibration_j = gpu.energy->band_calibration.value();
  }
  if (gpu.power) {
    r.flags |= RUBATO_ENERGY_POWER;
    r.power_w = gpu.power->value();
  }
  if (gpu.kind != Kind::measured) r.flags |= RUBATO_ENERGY_MODELLED;
  return r;
}

}  // namespace

Result<EnergyBoard> EnergyBoard::create(const std::filesystem::path& folder, std::size_t most_gpus,
                                        double clock_rate) {
  const std::filesystem::path file = folder / RUBATO_ENERGY_FILE;
  ScopedFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.is_open()) return fail(from_errno(errno, cat("cannot make ", file.string())));
  EnergyBoard board(std::move(fd), most_gpus, clock_rate);
  board.publish(0, {});
  return board;
}

void EnergyBoard::publish(std::int64_t monotonic_ns, std::span<const GpuNow> gpus) {
  const std::size_t count = std::min(gpus.size(), most_gpus_);
  rubato_energy_header header{};
  header.magic = RUBATO_ENERGY_MAGIC;
  header.version = RUBATO_ENERGY_VERSION;
  header.header_size = sizeof header;
  header.record_size = sizeof(rubato_energy_record);
  header.gpus = static_cast<std::uint32_t>(count);
  header.monotonic_ns = monotonic_ns;
  header.clock_rate = clock_rate_;
  bytes_.resize(count * sizeof(rubato_energy_record));
  for (std::size_t i = 0; i < count; ++i) {
    const rubato_energy_record record = record_of(gpus[i]);
    std::memcpy(bytes_.data() + i * sizeof record, &record, sizeof record);
  }
  // Odd before anything else changes, even after everything has.
  const std::uint64_t odd = sequence_ + 1;
  put(file_.get(), &odd, sizeof odd, offsetof(rubato_energy_header, sequence));
  put(file_.get(), bytes_.data(), bytes_.size(), sizeof header);
  header.sequence = odd;
  put(file_.get(), &header, sizeof header, 0);
  sequence_ += 2;
  put(file_.get(), &sequence_, sizeof sequence_, offsetof(rubato_energy_header, sequence));
}

}  // namespace rubato::conduct
