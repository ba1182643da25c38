// Runs a fuzz target without libFuzzer: every file of the corpus folders named on the command line, then
// seeded mutations of them, so that each compiler's build checks the parsers in seconds and repeatably.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <vector>

#include "base/random.h"
#include "fuzz/target.h"

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr int kMutationsPerSeed = 400;

std::size_t below(rubato::Random& random, std::size_t bound) {
  return std::min(bound - 1, static_cast<std::size_t>(random.uniform() * static_cast<double>(bound)));
}

Bytes mutate(Bytes bytes, const std::vector<Bytes>& seeds, rubato::Random& random) {
  const std::size_t edits = 1 + below(random, 4);
  for (std::size_t i = 0; i < edits; ++i) {
    const std::size_t at = below(random, bytes.size() + 1);
    const auto here = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    switch (below(random, 5)) {
      case 0:
        bytes.insert(here, static_cast<std::uint8_t>(below(random, 256)));
        break;
      case 1:
        if (at < bytes.size()) bytes[at] = static_cast<std::uint8_t>(below(random, 256));
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3: {
        const Bytes& other = seeds[below(random, seeds.size())];
        const std::size_t from = below(random, other.size() + 1);
        bytes.insert(here, other.begin() + static_cast<std::ptrdiff_t>(from), other.end());
        break;
      }
      default: {
        const std::size_t to = std::min(bytes.size(), at + 1 + below(random, 16));
        bytes.erase(here, bytes.begin() + static_cast<std::ptrdiff_t>(to));
      }
    }
  }
  return bytes;
}

Bytes read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i)
    for (const auto& entry : std::filesystem::directory_iterator(argv[i]))
      if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Bytes> seeds;
  for (const auto& file : files) seeds.push_back(read_file(file));
  if (seeds.empty()) {
    std::fprintf(stderr, "no corpus file in the folders given\n");
    return 1;
  }
  rubato::Random random(1);
  for (const Bytes& seed : seeds) {
    LLVMFuzzerTestOneInput(seed.data(), seed.size());
    for (int i = 0; i < kMutationsPerSeed; ++i) {
      const Bytes input = mutate(seed, seeds, random);
      LLVMFuzzerTestOneInput(input.data(), input.size());
    }
  }
  std::printf("%zu seeds, %d mutations of each\n", seeds.size(), kMutationsPerSeed);
  return 0;
}
