// Where the leader listens, told through the user's own state folder, which most clusters share between
// nodes: the only way where the launcher does not tell rank 0's host, and the way around a taken port.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "agent/sockets.h"
#include "base/result.h"

namespace rubato::agent {

/// Tells it for as long as this object lives.
class MeetingPoint {
 public:
  /// `folder`/`name`, replaced whole.
  [[nodiscard]] static Result<MeetingPoint> tell(const std::filesystem::path& folder, const std::string& name,
                                                 std::uint16_t port,
                                                 const std::vector<std::string>& addresses);
  MeetingPoint(MeetingPoint&& other) noexcept;
  MeetingPoint& operator=(MeetingPoint&& other) noexcept;
  ~MeetingPoint();

 private:
  explicit MeetingPoint(std::filesystem::path file) : file_(std::move(file)) {}
  std::filesystem::path file_;
};

/// Empty where nobody has told yet, or what stands there is no meeting point.
[[nodiscard]] std::vector<Address> read_meeting_point(const std::filesystem::path& folder,
                                                      const std::string& name);

}  // namespace rubato::agent
