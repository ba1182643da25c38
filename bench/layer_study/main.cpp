// rubato-layer-study --data DIR DOCS: writes DOCS/evidence/layers.md and DOCS/img/layers-break-even.svg.
// Without
// --data the modelled boards alone.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "layer_study/in_parallel.h"
#include "layer_study/page.h"

namespace {

using namespace rubato;
using namespace rubato::layer_study;

constexpr const char* kHead = R"(# Clocks for each layer: what they could save, and when

Made by `rubato-layer-study --data DIR DOCS` (bench/layer_study). The networks' part is **modelled**: demands counted from
shapes ([layers.md](../layers.md)), time and power from the roofline and the boards' figures in `gpus/`
([layer-costs.md](../layer-costs.md)); nothing of it was measured on these boards. The pipelines' part is **measured** by
others.

- **Default**: the clocks the board runs at, warm, unless told otherwise. **Single**: the pair of SM and memory clock that
  saves most for the whole iteration inside the bound on its time. A strategy that changes clocks has to beat that.
- **At once**: changes take no time and cost nothing. **Delayed**: the typical delay of the boards' profiles (30 ms; a
  public note has 10 to 50 ms for the lock call, outliers are left out), during which the GPU goes on at the old clocks,
  requests no closer than that, and 1 ms without work where the memory clock changes (assumed; no longer than the delay).
  `pass` and `phase` ask for no more than 10 changes a second, which is what `rubato run --plan` sends; the two rules ask for more,
  and `rubato run` would hold their single setting. Plans for other delays than the published one know no such limit.
- Precision tf32, as frameworks multiply on these boards unless told otherwise; batch 64 unless stated (the thesis' own is
  not in its abstract). Every pair of clocks that the profile lists (about 520). The board's energy alone, no host.
- Shares of the roofs, the rule's thresholds, delays and what counts as saved were fixed before the first run and not
  changed since. Changed after it: every clock instead of ten for each memory clock, between which mixtures had gained what
  a finer clock would; and how far plans miss the bound at other delays was added.
)";

constexpr const char* kTail = R"(
## What is not in the model

- A share of the roofs is the same for all layers of a kind; real kernels differ by shape. Memory bandwidth does not fall
  with the SM clock, the cache counts for nothing, kernels do not overlap.
- The power limit acts on the mean of the iteration, at one SM clock for all layers. With free changes of clocks a plan
  could let some layers draw more than the limit and others less; that is not counted.
- Clock requests cost the host time, and more than some per second disturb collectives; neither is counted.
)";

std::vector<Question> all_of(double bound, unsigned batch) {
  std::vector<Question> out;
  for (const char* profile : {"rtxa4000", "rtx2000-ada-laptop"})
    for (const char* network : {"resnet50", "vgg16"})
      for (const bool forward : {false, true})
        out.push_back({.network = network,
                       .profile = profile,
                       .batch = batch,
                       .forward_only = forward,
                       .bound = bound});
  return out;
}

std::vector<Question> sensitive() {
  std::vector<Question> out;
  for (const bool forward : {false, true})
    for (const char* network : {"resnet50", "vgg16"}) {
      Question question{.network = network, .forward_only = forward};
      for (const Precision precision : {Precision::fp32, Precision::fp16}) {
        question.precision = precision;
        out.push_back(question);
      }
      question.precision = Precision::tf32;
      for (const double dense : {0.4, 0.95}) {
        question.reach.dense = dense;
        out.push_back(question);
      }
    }
  return out;
}

Answers ask() {
  Answers out;
  out.main = in_parallel(all_of(0.05, 64), answer);
  std::vector<Question> others = all_of(0.01, 64);
  for (const auto& [bound, batch] : {std::pair{0.2, 64U}, std::pair{0.05, 32U}})
    for (Question& question : all_of(bound, batch)) others.push_back(std::move(question));
  out.others = in_parallel(others, answer);
  out.sensitive = in_parallel(sensitive(), answer);
  return out;
}

bool write(const std::filesystem::path& file, const std::string& text) {
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) std::fprintf(stderr, "cannot write %s\n", file.c_str());
  return static_cast<bool>(out);
}

}  // namespace

int main(int argc, char** argv) {
  const bool with_data = argc == 4 && std::strcmp(argv[1], "--data") == 0;
  if (!with_data && argc != 2) {
    std::fprintf(stderr, "usage: rubato-layer-study [--data DIR] DOCS\n");
    return 125;
  }
  const Answers answers = ask();
  const auto found = break_evens(answers.main);
  std::vector<Model> models;
  for (const char* name : {"gpt3-175b", "bloom"}) {
    if (!with_data) break;
    const std::string file = std::string(name) + "+a100_sxm_bf16.csv";
    models.push_back(read_model((std::filesystem::path(argv[2]) / "pipeline" / file).string(), name, 0.05));
  }
  std::string page = kHead + verdict(answers, models) + networks_part(answers, found);
  if (!models.empty()) page += stages_part(models);
  page += kTail;
  const std::filesystem::path docs = argv[argc - 1];
  return write(docs / "evidence" / "layers.md", page) &&
                 write(docs / "img" / "layers-break-even.svg", break_even_plot(found, "rtxa4000"))
             ? 0
             : 1;
}
