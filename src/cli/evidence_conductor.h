// Gathers evidence on one GPU: run after run, each in a child process with a guard of its own, as `rubato
// run` makes them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/evidence_facts.h"
#include "cli/invocation.h"
#include "cli/run.h"
#include "cli/sweep_child.h"
#include "experiment/evidence_document.h"
#include "experiment/evidence_plan.h"
#include "govern/strategy.h"

namespace rubato::cli {

class EvidenceConductor {
 public:
  /// `plan` may lose its clocks on the way, where they turn out to be locked by somebody.
  EvidenceConductor(const Invocation& invocation, const RunOptions& options, const EvidenceFacts& facts,
                    experiment::EvidencePlan& plan, Interrupts& interrupts)
      : invocation_(invocation), options_(options), facts_(facts), plan_(plan), interrupts_(interrupts) {}

  /// Kernels, switches and what is missing; the rest of the evidence is the caller's.
  [[nodiscard]] experiment::Evidence run();
  /// What rubato is to exit with.
  [[nodiscard]] int status() const { return status_; }

 private:
  enum class End { through, given_up, stop };

  [[nodiscard]] End one_kernel(const experiment::EvidenceRun& run);
  void all_switches();
  struct Made {
    record::RunRecord record;
    std::string last_words;  // of the strategy; empty: it did not come to its end
  };
  /// `strategy` gets a descriptor for its last words. Nothing where no other run would tell more either, and
  /// what is missing says why.
  [[nodiscard]] std::optional<Made> one_run(
      const std::string& part, std::string_view kernel, Seconds length,
      const std::function<std::unique_ptr<govern::Strategy>(int say)>& strategy);
  [[nodiscard]] std::vector<std::string> job(std::string_view kernel, Seconds at_most) const;
  [[nodiscard]] bool simulated() const { return facts_.kind == Kind::modelled; }
  [[nodiscard]] std::string gpu_list() const;
  [[nodiscard]] bool on_terminal() const;
  [[nodiscard]] bool interrupted();
  void miss(std::string part, std::string why);
  void judge(const experiment::KernelEvidence& kernel);

  const Invocation& invocation_;
  const RunOptions& options_;
  const EvidenceFacts& facts_;
  experiment::EvidencePlan& plan_;
  Interrupts& interrupts_;
  experiment::Evidence evidence_;
  Seconds left_;  // of the plan, on the GPU's clock
  int status_ = 0;
};

}  // namespace rubato::cli
