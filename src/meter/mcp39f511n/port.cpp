#include "meter/mcp39f511n/port.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <array>
#include <cerrno>
#include <cmath>

#include "base/clock.h"
#include "base/text.h"
#include "meter/mcp39f511n/packet.h"
#include "meter/mcp39f511n/registers.h"
#include "meter/number_file.h"

namespace rubato::meter::mcp39f511n {
namespace {

constexpr std::string_view kTtys = "/sys/class/tty";
// A reply of 19 bytes takes 2 ms on the line and a few more through USB. Two requests, each tried twice, stay
// within kReadPatience.
constexpr Seconds kReplyPatience{0.25};
constexpr std::string_view kDamagedHint = "nothing needs doing: it is asked again at the next reading";

/// The kernel's name of the port, also behind a link such as /dev/serial/by-id/….
std::string tty_name(const FsRoot& root, const std::string& device) {
  const std::string name = std::filesystem::path(device).filename().string();
  if (name.starts_with("tty")) return name;
  std::error_code failed;
  const auto target = std::filesystem::canonical(root.path(device), failed);
  return failed ? name : target.filename().string();
}

struct UsbIds {
  std::string vendor;
  std::string product;
  [[nodiscard]] bool are_the_meters() const { return vendor == kVendor && product == kProduct; }
};

/// The tty's device is a USB interface; the ids are with the device around it.
UsbIds ids_of(const FsRoot& root, const std::string& tty) {
  const auto usb = root.path(cat(kTtys, "/", tty, "/device/.."));
  return {read_word(usb / "idVendor"), read_word(usb / "idProduct")};
}

Status make_raw(int fd, const std::string& device) {
  termios settings{};
  if (::tcgetattr(fd, &settings) != 0)
    return fail(from_errno(errno, cat("cannot read the serial settings of ", device)));
  ::cfmakeraw(&settings);
  settings.c_cflag |= CLOCAL | CREAD;
  ::cfsetspeed(&settings, B115200);
  if (::tcsetattr(fd, TCSANOW, &settings) != 0)
    return fail(from_errno(errno, cat("cannot set ", device, " to 115200 baud")));
  return {};
}

/// Waits for `events`; false when the time is up.
Result<bool> wait_for(int fd, short events, TimePoint until) {
  for (;;) {
    pollfd entry{.fd = fd, .events = events, .revents = 0};
    const double left_ms = std::ceil((until - RealClock().now()).value() * 1e3);
    const int ready = ::poll(&entry, 1, left_ms > 0 ? static_cast<int>(left_ms) : 0);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return fail(from_errno(errno, "cannot wait for the serial port"));
    return ready > 0;
  }
}

}  // namespace

std::vector<std::string> find_ports(const FsRoot& root) {
  std::vector<std::string> ports;
  for (const std::string& tty : entries(root.path(kTtys)))
    if (tty.starts_with("ttyACM") && ids_of(root, tty).are_the_meters()) ports.push_back(cat("/dev/", tty));
  return ports;
}

Result<Port> Port::open(const FsRoot& root, const std::string& device) {
  const UsbIds ids = ids_of(root, tty_name(root, device));
  const std::string found =
      ids.vendor.empty() ? "no USB device" : cat("USB device ", ids.vendor, ":", ids.product);
  if (!ids.are_the_meters())
    return fail(
        ErrorCode::not_found, cat("mcp39f511n: ", device, " is ", found, ", needed ", kVendor, ":", kProduct),
        "plug the meter in and look for it:  grep -l 00dd /sys/class/tty/ttyACM*/device/../idProduct");
  ScopedFd fd(::open(root.path(device).c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  if (!fd.is_open() && errno == EBUSY)
    return fail(ErrorCode::busy, cat("mcp39f511n: another program has ", device, " open"),
                cat("find it:  fuser -v ", device));
  if (!fd.is_open())
    return fail(from_errno(errno, cat("mcp39f511n: cannot open ", device),
                           "sudo usermod --append --groups dialout $USER, then log in again"));
  // Two programs that ask in turn would get each other's answers.
  if (::ioctl(fd.get(), TIOCEXCL) != 0)
    return fail(from_errno(errno, cat("mcp39f511n: cannot have ", device, " alone")));
  if (auto raw = make_raw(fd.get(), device); !raw) return fail(std::move(raw.error()));
  return Port(std::move(fd), device);
}

Error Port::lost(std::string_view how) const {
  return {ErrorCode::device_lost, cat("mcp39f511n: ", device_, " is gone (", how, ")"),
          "plug the meter in again; rubato opens it anew by itself"};
}

Status Port::send(std::span<const std::uint8_t> request) {
  const TimePoint until = RealClock().now() + kReplyPatience;
  while (!request.empty()) {
    const ssize_t wrote = ::write(fd_.get(), request.data(), request.size());
    if (wrote > 0) {
      request = request.subspan(static_cast<std::size_t>(wrote));
    } else if (wrote < 0 && errno == EAGAIN) {
      const auto ready = wait_for(fd_.get(), POLLOUT, until);
      if (!ready) return fail(lost(ready.error().what));
      if (!*ready)
        return fail(ErrorCode::timeout, cat("mcp39f511n: ", device_, " takes no request"),
                    "replug the meter");
    } else if (wrote == 0 || errno != EINTR) {
      return fail(lost(from_errno(errno, "writing").what));
    }
  }
  return {};
}

Result<std::vector<std::uint8_t>> Port::ask(std::span<const std::uint8_t> request, std::size_t count) {
  // What is left of an earlier answer must not be taken for this one.
  (void)::tcflush(fd_.get(), TCIFLUSH);
  if (auto sent = send(request); !sent) return fail(std::move(sent.error()));
  const TimePoint until = RealClock().now() + kReplyPatience;
  std::vector<std::uint8_t> got;
  constexpr std::size_t kMostBytes = 1024;
  while (got.size() < kMostBytes) {
    const auto ready = wait_for(fd_.get(), POLLIN, until);
    if (!ready) return fail(lost(ready.error().what));
    if (!*ready) break;
    std::array<std::uint8_t, 64> buffer{};
    const ssize_t bytes = ::read(fd_.get(), buffer.data(), buffer.size());
    if (bytes < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (bytes <= 0) return fail(lost(bytes == 0 ? "end of file" : from_errno(errno, "reading").what));
    got.insert(got.end(), buffer.begin(), buffer.begin() + bytes);
    Reply reply = parse_reply(got, count);
    if (reply.state == ReplyState::complete) return std::move(reply.data);
    if (reply.state == ReplyState::damaged)
      return fail(ErrorCode::corrupt, cat("mcp39f511n: a packet from ", device_, " with a wrong checksum"),
                  std::string(kDamagedHint));
    if (reply.state == ReplyState::refused)
      return fail(ErrorCode::not_supported,
                  cat("mcp39f511n: ", device_, " refused to read ", count, " bytes"),
                  "is it an MCP39F511N? the same USB bridge sits in other devices");
    if (reply.state == ReplyState::misread)
      return fail(ErrorCode::corrupt, cat("mcp39f511n: a request to ", device_, " arrived damaged"),
                  std::string(kDamagedHint));
  }
  return fail(ErrorCode::timeout,
              cat("mcp39f511n: ", device_, " sent ", got.size(), " bytes and no whole packet within ",
                  kReplyPatience),
              got.empty() ? std::string("is the meter powered? it hangs on the mains it measures")
                          : std::string(kDamagedHint));
}

Result<std::vector<std::uint8_t>> Port::read_registers(std::uint16_t address, std::size_t count) {
  const auto request = read_request(address, static_cast<std::uint8_t>(count));
  auto first = ask(request, count);
  if (first || first.error().code == ErrorCode::device_lost) return first;
  return ask(request, count);
}

}  // namespace rubato::meter::mcp39f511n
