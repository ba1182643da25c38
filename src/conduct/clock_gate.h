// Keeps a searching strategy away from clocks until it is seen that none was locked before: a lock cannot be
// read from the driver, so one that somebody else had set could not be put back.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "govern/clock_lock.h"
#include "govern/strategy.h"

namespace rubato::conduct {

/// Waits, in the job's warm-up, until the GPU under load has shown its clock; then makes the strategy, with
/// clocks or without, and is that strategy.
class ClockGate final : public govern::Strategy {
 public:
  using Make = std::function<Result<std::unique_ptr<govern::Strategy>>(bool clocks)>;

  /// `name`: of the strategy to come.
  ClockGate(std::string name, Make make) : name_(std::move(name)), make_(std::move(make)) {}

  [[nodiscard]] std::string_view name() const override { return inner_ ? inner_->name() : name_; }
  [[nodiscard]] govern::Decision next(const govern::Observation& o) override;
  [[nodiscard]] std::optional<Expectation> expected() const override {
    return inner_ ? inner_->expected() : std::nullopt;
  }
  [[nodiscard]] std::optional<govern::Left> left() const override {
    return inner_ ? inner_->left() : std::nullopt;
  }

 private:
  void open(std::optional<std::string> objection);

  std::string name_;
  Make make_;
  std::unique_ptr<govern::Strategy> inner_;
  govern::ClockLockEvidence lock_;
  std::optional<TimePoint> loaded_since_;
  std::string told_;  // with the next decision that is kept: why clocks stay off
};

}  // namespace rubato::conduct
