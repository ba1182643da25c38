// Simulates a star cluster for a number of epochs and prints how well its energy is kept after each.
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <thread>

#include "marks.h"
#include "simulation.h"

namespace {

constexpr const char* kUsage =
    "usage: nbody [--bodies 4096] [--epochs 4] [--steps 50] [--dt 0.01] [--softening 0.05] [--seed 1]\n"
    "             [--threads N] [--device auto|cpu|cuda]\n"
    "An epoch is so many steps; after each the energy is printed.\n";

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "error: %s\n%s", why.c_str(), kUsage);
  std::exit(2);
}

class Options {
 public:
  Options(int count, char** words) {
    for (int i = 1; i < count; ++i) {
      const std::string_view word = words[i];
      if (word == "--help" || word == "-h") {
        std::fputs(kUsage, stdout);
        std::exit(0);
      }
      const auto known = values_.find(word);
      if (known == values_.end()) stop("there is no option " + std::string(word));
      if (i + 1 == count) stop(std::string(word) + " needs a value");
      known->second = words[++i];
    }
  }

  [[nodiscard]] const std::string& text(std::string_view name) const { return values_.find(name)->second; }

  template <class Number>
  [[nodiscard]] Number number(std::string_view name, Number least, Number most) const {
    const std::string& value = text(name);
    Number number{};
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc{} || end != value.data() + value.size() || !(number >= least && number <= most)) {
      stop(std::string(name) + " is '" + value + "', needed is a number from " + std::to_string(least) +
           " to " + std::to_string(most));
    }
    return number;
  }

 private:
  std::map<std::string, std::string, std::less<>> values_ = {
      {"--bodies", "4096"},
      {"--epochs", "4"},
      {"--steps", "50"},
      {"--dt", "0.01"},
      {"--softening", "0.05"},
      {"--seed", "1"},
      {"--threads", std::to_string(std::max(1U, std::thread::hardware_concurrency()))},
      {"--device", "auto"},
  };
};

}  // namespace

int main(int argc, char** argv) {
  const Options options(argc, argv);
  const auto count = options.number<std::size_t>("--bodies", 2, 10'000'000);
  const auto epochs = options.number<std::uint64_t>("--epochs", 1, 1'000'000);
  const auto steps = options.number<std::uint64_t>("--steps", 1, 1'000'000);
  const auto dt = options.number<float>("--dt", 1e-6F, 1.0F);
  const auto softening = options.number<float>("--softening", 1e-4F, 1.0F);
  const auto threads = options.number<unsigned>("--threads", 1, 1024);
  const std::string& device = options.text("--device");
  if (device != "auto" && device != "cpu" && device != "cuda") stop("--device is '" + device + "'");

  auto gravity = device == "cpu" ? nullptr : nbody::cuda_gravity();
  const bool on_gpu = gravity != nullptr;
  if (!on_gpu && device == "cuda") stop("no CUDA: no GPU here, or built without nvcc");
  if (!on_gpu) gravity = nbody::cpu_gravity(threads);

  nbody::Bodies bodies = nbody::plummer_sphere(count, options.number<std::uint64_t>("--seed", 0, UINT64_MAX));
  std::printf("%zu bodies, %llu epochs of %llu steps of %g, softening %g, on the %s\n", count,
              static_cast<unsigned long long>(epochs), static_cast<unsigned long long>(steps), double{dt},
              double{softening}, on_gpu ? "GPU" : "CPU");
  std::vector<nbody::Pull> pull;
  gravity->pulls(bodies, softening, pull);
  const double start = nbody::energy(bodies, pull, softening);
  std::printf("energy %.9g\n", start);

  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    nbody::epoch_begins(epoch, epochs);
    for (std::uint64_t step = 0; step < steps; ++step) {
      nbody::iteration_begins(epoch * steps + step, steps);
      nbody::leapfrog(bodies, pull, *gravity, softening, dt);
      nbody::iteration_ends(epoch * steps + step);
    }
    const double now = nbody::energy(bodies, pull, softening);
    std::printf("epoch %llu: energy %.9g, drift %.3e\n", static_cast<unsigned long long>(epoch + 1), now,
                std::abs((now - start) / start));
    std::fflush(stdout);
    nbody::epoch_ends(epoch);
  }
}
