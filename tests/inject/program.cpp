// A CUDA program as the injected library meets it: the driver loads the library that CUDA_INJECTION64_PATH
// names and calls it, then kernels run. What it did stands on standard output: "launched=… subscribed=… …".
//
//   program MODE [CYCLES]   launches a, b, c in turn until CYCLES cycles ended and something was recorded;
//                           without CYCLES until the library has given up
//     plain      kernels
//     graphs     and a CUDA graph
//     layers     each inside a layer of its own by the exported functions
//     nvtx       inside NVTX ranges
//     flood      one every two microseconds, which is as fast as a driver launches them
//     at-exit    leaves as soon as ten were recorded
//     fork       a child of it leaves by exit() meanwhile
//     nothing    no fake at all: whatever libcupti the loader finds; waits until the library has given up
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "inject/fake_cupti.h"

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void die(const std::string& why) {
  std::fprintf(stderr, "program: %s\n", why.c_str());
  std::exit(3);
}

template <class Function>
Function* find(void* library, const char* name) {
  void* symbol = ::dlsym(library, name);
  if (symbol == nullptr) die(std::string("no ") + name);
  return reinterpret_cast<Function*>(symbol);
}

// NVTX as a library that contains it: function pointers that an injection may replace.
int (*g_push)(const char*) = nullptr;
int (*g_pop)() = nullptr;
void (**g_core[16])() = {};

int get_functions(int module, void (****table)(), unsigned* count) {
  if (module != 1) return 0;
  g_core[9] = reinterpret_cast<void (**)()>(&g_push);
  g_core[11] = reinterpret_cast<void (**)()>(&g_pop);
  *table = g_core;
  *count = 16;
  return 1;
}

struct {
  std::size_t size;
  int (*get_functions)(int, void (****)(), unsigned*);
} const g_callbacks{sizeof g_callbacks, get_functions};

const void* get_export_table(std::uint32_t id) {
  return id == 1 ? &g_callbacks : nullptr;
}

// Its thread is there as long as it means to record.
bool library_works() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name == "rubato-inject") return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "plain";
  const unsigned cycles = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 0;
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  void* injected = path != nullptr ? ::dlopen(path, RTLD_NOW) : nullptr;
  if (injected == nullptr) die(std::string("cannot load the injection: ") + ::dlerror());
  if (find<int()>(injected, "InitializeInjection")() != 1) die("InitializeInjection failed");
  const auto deadline = Clock::now() + std::chrono::seconds(20);
  if (mode == "nothing") {
    while (library_works() && Clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::puts("still here");
    return 0;
  }

  if (::dlopen(FAKE_CUDA, RTLD_NOW | RTLD_GLOBAL) == nullptr) die(::dlerror());
  void* fake = ::dlopen(FAKE_CUPTI, RTLD_NOW);
  if (fake == nullptr) die(::dlerror());
  auto* launch = find<FakeLaunchFunction>(fake, "fake_launch");
  auto* counts = find<FakeCountsFunction>(fake, "fake_counts");
  auto* push = find<void(std::uint64_t)>(injected, "rubato_inject_push");
  auto* pop = find<void()>(injected, "rubato_inject_pop");
  if (mode == "nvtx" &&
      find<int(const void* (*)(std::uint32_t))>(injected, "InitializeInjectionNvtx2")(get_export_table) != 1)
    die("InitializeInjectionNvtx2 failed");

  const char* const names[] = {"gemm_a", "norm_b",
                               "a_kernel_whose_mangled_name_is_longer_than_one_mark_can_hold_at_once"};
  FakeCounts done{};
  unsigned launched = 0;
  if (mode == "fork") {
    if (const pid_t child = ::fork(); child == 0) {
      push(1);
      pop();
      std::exit(0);
    } else {
      int status = 0;
      ::waitpid(child, &status, 0);
      if (status != 0) die("the child did not exit cleanly");
    }
  }
  while (Clock::now() < deadline) {
    if (mode == "nvtx") g_push("step");
    for (unsigned i = 0; i < 3; ++i) {
      if (mode == "layers") push(100 + i);
      if (mode == "nvtx") g_push(i == 0 ? "forward" : "backward");
      const FakeLaunch kernel{names[i], i + 1, 32 * (i + 1), 7, 0};
      launch(&kernel);
      ++launched;
      for (const auto next = Clock::now() + std::chrono::microseconds(2);
           mode == "flood" && Clock::now() < next;) {
      }
      if (mode == "layers") pop();
      if (mode == "nvtx") g_pop();
    }
    if (mode == "nvtx") g_pop();
    if (mode == "graphs") {
      const FakeLaunch graph{nullptr, 0, 0, 7, 42};
      launch(&graph);
    }
    counts(&done);
    // A program that got no processor for a whole cycle goes on: something has to be recorded.
    const bool through = done.cycles >= cycles && done.unsubscribed >= cycles && done.recorded >= 30;
    if (mode == "at-exit" ? done.recorded >= 10 : cycles > 0 ? through : !library_works()) break;
    if (mode != "flood") std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  // Again: the library may have begun, been refused and given up since the last look.
  counts(&done);
  std::printf("launched=%u recorded=%u dropped=%u subscribed=%u unsubscribed=%u cycles=%u enabled=%u\n",
              launched, done.recorded, done.dropped, done.subscribed, done.unsubscribed, done.cycles,
              done.enabled);
  return 0;
}
