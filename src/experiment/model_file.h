// A trained model as a file, with what it was trained on: docs/formats.md#rubatomodel1. What cannot be
// trusted, or was not meant for the GPU at hand, is refused with its reason.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/sweep_table.h"
#include "predict/model.h"

namespace rubato::experiment {

/// Of one model of GPU: where its knobs can stand, as far as the table went.
struct ModelGpu {
  std::string name;
  predict::KnobPoint highest;
  std::vector<predict::KnobPoint> settings;  // distinct, ascending
};

struct ModelFile {
  std::string learner;
  std::vector<Knob> knobs;
  std::vector<ModelGpu> gpus;
  unsigned feature_schema = 0;        // kFeatureSchemaVersion at training
  std::vector<std::string> features;  // counters at the default that the table had
  std::string table;                  // its name, for people
  std::string fingerprint;            // of the table's rows: fingerprint_of()
  std::size_t rows = 0;
  std::size_t workloads = 0;  // distinct ones
  std::size_t groups = 0;
  std::string trained;  // date, "2026-11-22"
  /// Mean errors leaving one group out, as fractions, at the time of training; absent where there was one
  /// group.
  struct LeftOut {
    std::optional<double> time;
    std::optional<double> energy;
  } left_out;
  std::shared_ptr<const predict::Model> model;

  /// not_supported: the model never saw this GPU; names those it did.
  [[nodiscard]] Result<const ModelGpu*> gpu(std::string_view name) const;
};

struct TrainOptions {
  const predict::Learner* learner = nullptr;
  std::vector<Knob> knobs;
  std::string date;  // passed in, so that the same table gives the same file
  /// After the model itself and after each group that was held out.
  std::function<void(std::size_t done, std::size_t all)> progress{};
};

/// Learns from all of `table`, and once more without each group to know the errors.
[[nodiscard]] Result<ModelFile> train_model(const SweepTable& table, const TrainOptions& options);

/// "fnv1a64:" and 16 hexadecimal digits over the rows as write_sweep_table() writes them, sorted; neither
/// comments nor the order of rows count. It tells tables apart; it is no protection against forgery.
[[nodiscard]] Result<std::string> fingerprint_of(const SweepTable& table);

[[nodiscard]] std::string write_model_file(const ModelFile& file);
/// corrupt: cut off, or changed since it was written. not_supported: of another version or feature schema.
/// `name` stands in front of every message.
[[nodiscard]] Result<ModelFile> parse_model_file(std::string_view text, std::string_view name = "model file");
/// At most 256 MiB.
[[nodiscard]] Result<ModelFile> read_model_file(const std::filesystem::path& path);

}  // namespace rubato::experiment
