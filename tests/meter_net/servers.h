// Real servers on loopback for tests: where tools/unpack-test-servers put them, started on free ports,
// stopped with the test, also where it dies.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace rubato::meter::testing {

/// Empty where tools/unpack-test-servers got this server; else why a test must skip.
[[nodiscard]] std::string why_without(const std::string& server);
/// A file of the unpacked packages: "usr/sbin/snmpd".
[[nodiscard]] std::filesystem::path unpacked(const std::string& path);
[[nodiscard]] std::filesystem::path source_file(const std::string& path);

/// A port nobody has now, and that the kernel gives to no client by itself. Another server may take it before
/// it is used; servers then fail to start and tests say so.
[[nodiscard]] std::uint16_t free_port(int socket_type);

class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  [[nodiscard]] std::filesystem::path file(const std::string& name) const { return path_ / name; }
  /// Whole, or not at all, for whoever reads it meanwhile.
  std::filesystem::path write(const std::string& name, const std::string& content) const;
  [[nodiscard]] std::string read(const std::string& name) const;

 private:
  std::filesystem::path path_;
};

/// A child process with the unpacked libraries in reach, its output in a file.
class Process {
 public:
  Process(const std::vector<std::string>& words, const std::filesystem::path& log,
          const std::vector<std::string>& environment = {});
  ~Process() { kill(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  void kill();
  void signal(int number) const;
  [[nodiscard]] bool runs();
  /// The exit status, once it ends by itself.
  int wait();

 private:
  pid_t pid_ = -1;
};

/// Runs to its end; the exit status.
int run(const std::vector<std::string>& words, const std::filesystem::path& log);
/// True once somebody accepts connections there, within ten seconds.
[[nodiscard]] bool accepts(std::uint16_t port);

}  // namespace rubato::meter::testing
