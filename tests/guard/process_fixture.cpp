// A guard program over a fake GPU whose state is a file mapped by every process that looks at it:
// the arguments are those of the real hidden subcommand, with the file's path in place of a backend.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "guard/fake_gpu.h"
#include "guard/process.h"

namespace {

using namespace rubato;

constexpr double kClockRate = 5;  // the five seconds of silence last one

Result<guard::GuardOptions> prepare(const std::string& path) {
  if (path == "none") return fail(ErrorCode::unavailable, "there is no driver", "install one");
  const ScopedFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  void* at = ::mmap(nullptr, sizeof(guard::fake::State), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (at == MAP_FAILED) return fail(from_errno(errno, "cannot map " + path));
  auto* state = static_cast<guard::fake::State*>(at);
  auto steps = std::make_shared<guard::fake::Steps>();
  return guard::GuardOptions{.open = [state, steps](const GpuId& id) -> Result<guard::OpenedGpu> {
                               return guard::OpenedGpu{
                                   std::make_unique<guard::fake::Gpu>(id, *state, *steps),
                                   std::make_unique<guard::fake::Control>(*state, *steps)};
                             },
                             .folder = path + "-journals",
                             .driver_version = "550.1",
                             .clock = std::make_shared<ScaledClock>(TimePoint{}, kClockRate)};
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  guard::ProcessOptions options;
  std::string world;
  bool restore = false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "--backend")
      world = words.at(++i);
    else if (words[i] == "--socket-fd")
      options.socket_fd = static_cast<int>(parse_integer(words.at(++i)).value_or(-1));
    else if (words[i] == "--connect")
      options.connect_path = words.at(++i);
    else if (words[i] == "--restore")
      restore = true;
    else if (words[i] == "--successor")
      options.successor = true;
  }
  options.prepare = [&world] { return prepare(world); };
  return restore ? guard::run_restore_process(options) : guard::run_guard_process(options);
}
