#include "agent/meeting.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/fd.h"
#include "base/fs_root.h"
#include "base/runtime_folder.h"
#include "base/text.h"

namespace rubato::agent {
namespace {

constexpr std::size_t kMostAddresses = 32;

}  // namespace

Result<MeetingPoint> MeetingPoint::tell(const std::filesystem::path& folder, const std::string& name,
                                        std::uint16_t port, const std::vector<std::string>& addresses) {
  std::error_code ignored;
  std::filesystem::create_directories(folder.parent_path(), ignored);
  if (const auto ours = private_folder(folder); !ours) return fail(ours.error());
  std::string text = cat("rubato-meeting/1 ", port, "\n");
  for (const std::string& address : addresses) text += cat(address, "\n");
  const std::filesystem::path file = folder / name;
  std::string made = cat(file.string(), ".XXXXXX");
  const ScopedFd fd(mkostemp(made.data(), O_CLOEXEC));
  if (!fd.is_open()) return fail(from_errno(errno, cat("cannot write ", file.string())));
  if (write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      std::rename(made.c_str(), file.c_str()) != 0) {
    const int why = errno;
    unlink(made.c_str());
    return fail(from_errno(why, cat("cannot write ", file.string())));
  }
  return MeetingPoint(file);
}

MeetingPoint::MeetingPoint(MeetingPoint&& other) noexcept : file_(std::exchange(other.file_, {})) {}
MeetingPoint& MeetingPoint::operator=(MeetingPoint&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}
MeetingPoint::~MeetingPoint() {
  std::error_code ignored;
  if (!file_.empty()) std::filesystem::remove(file_, ignored);
}

std::vector<Address> read_meeting_point(const std::filesystem::path& folder, const std::string& name) {
  const auto text = read_small_file(folder / name);
  if (!text) return {};
  const auto lines = split(*text, '\n');
  constexpr std::string_view kBegin = "rubato-meeting/1 ";
  if (lines.empty() || !lines.front().starts_with(kBegin)) return {};
  const auto port = parse_integer(std::string_view(lines.front()).substr(kBegin.size()));
  if (!port || *port < 1 || *port > 65535) return {};
  std::vector<Address> out;
  for (std::size_t i = 1; i < lines.size() && i <= kMostAddresses; ++i) {
    // Figures, which the resolver need not be asked about.
    if (lines[i].empty() || lines[i].find_first_not_of("0123456789abcdef.:") != std::string::npos) continue;
    if (auto resolved = resolve(lines[i], static_cast<std::uint16_t>(*port)))
      out.insert(out.end(), resolved->begin(), resolved->end());
  }
  return out;
}

}  // namespace rubato::agent
