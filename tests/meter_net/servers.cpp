#include "meter_net/servers.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "base/fd.h"
#include "base/text.h"

namespace rubato::meter::testing {
namespace {

namespace fs = std::filesystem;

fs::path source_folder() {
  const char* folder = std::getenv("RUBATO_SOURCE_DIR");
  return folder == nullptr ? fs::current_path() : fs::path(folder);
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

}  // namespace

std::string why_without(const std::string& server) {
  std::ifstream status(source_folder() / "build/servers/status");
  for (std::string line; std::getline(status, line);) {
    const auto tab = line.find('\t');
    if (line.substr(0, tab) != server) continue;
    const std::string reason = line.substr(tab + 1);
    return reason == "ok" ? std::string() : cat(server, ": ", reason);
  }
  return server + " is not there: run tools/unpack-test-servers";
}

fs::path unpacked(const std::string& path) {
  return source_folder() / "build/servers/root" / path;
}

fs::path source_file(const std::string& path) {
  return source_folder() / path;
}

std::uint16_t free_port(int socket_type) {
  // The kernel gives clients ports from 32768 on. A server's port from there could be given to a client
  // before the server listens, even to the one that asks it: it would then talk to itself.
  constexpr std::uint16_t kFirst = 20000, kEnd = 32000;
  std::random_device seed;
  std::uniform_int_distribution<std::uint16_t> any(kFirst, kEnd - 1);
  for (int tries = 0; tries < 1000; ++tries) {
    const ScopedFd fd(::socket(AF_INET, socket_type | SOCK_CLOEXEC, 0));
    const sockaddr_in address = loopback(any(seed));
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0)
      return ntohs(address.sin_port);
  }
  throw std::runtime_error("no free port on loopback");
}

TempFolder::TempFolder() {
  std::string name = (fs::temp_directory_path() / "rubato-meter-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path TempFolder::write(const std::string& name, const std::string& content) const {
  std::ofstream(file(name + ".new")) << content;
  fs::rename(file(name + ".new"), file(name));
  return file(name);
}

std::string TempFolder::read(const std::string& name) const {
  std::stringstream content;
  content << std::ifstream(file(name)).rdbuf();
  return content.str();
}

Process::Process(const std::vector<std::string>& words, const fs::path& log,
                 const std::vector<std::string>& environment) {
  std::vector<std::string> variables = environment;
  const std::string libraries = unpacked("usr/lib/x86_64-linux-gnu").string();
  variables.push_back(cat("LD_LIBRARY_PATH=", libraries, ":", unpacked("lib/x86_64-linux-gnu").string()));
  variables.emplace_back("PATH=/usr/sbin:/usr/bin:/sbin:/bin");
  variables.emplace_back("MIBS=");  // no agent or tool here needs names of objects
  std::vector<std::string> arguments = words;
  std::vector<char*> argv, envp;
  for (std::string& word : arguments) argv.push_back(word.data());
  for (std::string& variable : variables) envp.push_back(variable.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  const ScopedFd output(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  const ScopedFd input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  ::dup2(input.get(), 0);
  ::dup2(output.get(), 1);
  ::dup2(output.get(), 2);
  ::execve(argv[0], argv.data(), envp.data());
  ::_exit(127);
}

void Process::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  wait();
}

void Process::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

bool Process::runs() {
  if (pid_ <= 0) return false;
  if (::waitpid(pid_, nullptr, WNOHANG) == 0) return true;
  pid_ = -1;
  return false;
}

int Process::wait() {
  if (pid_ <= 0) return -1;
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int run(const std::vector<std::string>& words, const fs::path& log) {
  return Process(words, log).wait();
}

bool accepts(std::uint16_t port) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < deadline) {
    const ScopedFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = loopback(port);
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

}  // namespace rubato::meter::testing
