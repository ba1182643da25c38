#include "meter/node_exporter.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace rubato::meter::testing {
namespace {

constexpr int kPatienceMs = 10'000;

/// Appends what comes until `enough` or the end of the stream or of patience.
template <class Enough>
std::string read_until(int fd, Enough enough) {
  std::string text;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (!enough(text) && std::chrono::steady_clock::now() < deadline) {
    pollfd wait{fd, POLLIN, 0};
    if (::poll(&wait, 1, 100) <= 0) continue;
    std::array<char, 4096> buffer{};
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

/// Of a line that has come whole: "… address=127.0.0.1:9100\n".
std::optional<int> port_in(std::string_view log) {
  constexpr std::string_view kAddress = "address=127.0.0.1:";
  const std::size_t at = log.find(kAddress);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = log.substr(at + kAddress.size());
  const std::size_t end = rest.find_first_not_of("0123456789");
  if (end == 0 || end == std::string_view::npos) return std::nullopt;
  const auto port = parse_integer(rest.substr(0, end));
  return port ? std::optional(static_cast<int>(*port)) : std::nullopt;
}

}  // namespace

std::optional<std::filesystem::path> node_exporter_program() {
  const char* const source = std::getenv("RUBATO_SOURCE_DIR");
  if (source == nullptr) return std::nullopt;
  const auto program = std::filesystem::path(source) / "build/servers/root/usr/bin/prometheus-node-exporter";
  if (::access(program.c_str(), X_OK) != 0) return std::nullopt;
  return program;
}

NodeExporter::NodeExporter(const std::filesystem::path& program, const std::filesystem::path& sysfs) {
  std::array<int, 2> log{};
  if (::pipe2(log.data(), O_CLOEXEC) != 0) std::abort();
  log_.reset(log[0]);
  const ScopedFd write_end(log[1]);
  const std::string tree = cat("--path.sysfs=", sysfs.string());
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(write_end.get(), STDERR_FILENO);
    ::execl(program.c_str(), program.c_str(), tree.c_str(), "--collector.disable-defaults",
            "--collector.rapl", "--collector.hwmon", "--web.listen-address=127.0.0.1:0", nullptr);
    ::_exit(127);
  }
  const std::string text =
      read_until(log_.get(), [](const std::string& so_far) { return port_in(so_far).has_value(); });
  port_ = port_in(text).value_or(0);
}

NodeExporter::~NodeExporter() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
}

std::map<std::string, double> NodeExporter::metrics() {
  std::map<std::string, double> values;
  const ScopedFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port_));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (port_ == 0 ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return values;
  const std::string request = "GET /metrics HTTP/1.0\r\n\r\n";
  if (::write(socket.get(), request.data(), request.size()) != static_cast<ssize_t>(request.size()))
    return values;
  for (const std::string& line :
       split(read_until(socket.get(), [](const std::string&) { return false; }), '\n')) {
    const auto blank = line.rfind(' ');
    if (line.starts_with('#') || blank == std::string::npos) continue;
    if (const auto value = parse_number(trim(std::string_view(line).substr(blank + 1))))
      values.emplace(line.substr(0, blank), *value);
  }
  return values;
}

}  // namespace rubato::meter::testing
