#include "cli/layers_network.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/text.h"

namespace rubato::cli {
namespace {

constexpr std::uintmax_t kMostBytes = 64U << 20U;

Result<predict::Network> read_network(const std::string& name) {
  std::error_code error;
  const bool file = name.ends_with(".json") || name.find('/') != std::string::npos;
  if (!file && !std::filesystem::is_regular_file(name, error)) {
    const auto found = predict::find_network(name);
    if (!found) return fail(found.error());
    return **found;
  }
  const auto size = std::filesystem::file_size(name, error);
  if (error) return fail(from_errno(error.value(), cat("cannot read the network ", name)));
  if (size > kMostBytes)
    return fail(ErrorCode::invalid_argument,
                cat(name, " is ", size, " bytes; a network is at most ", kMostBytes));
  std::ifstream in(name, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad() || text.size() != size) return fail(ErrorCode::io, cat("cannot read the network ", name));
  auto network = predict::parse_network(text);
  if (!network)
    return fail(network.error().code, cat(name, ": ", network.error().what), network.error().hint);
  return network;
}

}  // namespace

void add_network_options(CLI::App& command, NetworkOptions& options) {
  std::string names;
  for (const std::string& name : predict::list_networks()) names += cat(names.empty() ? "" : ", ", name);
  command
      .add_option("network", options.network,
                  cat(names, ", or a file as `rubato layers trace` writes one (rubato.network/1)"))
      ->type_name("NETWORK")
      ->required();
  command.add_option("--batch", options.batch, "samples in a batch, on one GPU (default: as it was traced)")
      ->type_name("N")
      ->check(CLI::Range(1U, 1U << 24U));
  command.add_option("--image", options.image, "side of the images, in place of the network's own")
      ->type_name("PIXELS")
      ->check(CLI::Range(1U, 1U << 20U));
  command
      .add_option("--precision", options.precision,
                  "of activations and weights: fp32, tf32, fp16, bf16 (default: as traced, else fp32)")
      ->type_name("NAME")
      ->check(CLI::IsMember({"fp32", "tf32", "fp16", "bf16"}));
  command
      .add_option("--optimizer", options.optimizer, "sgd, momentum, adam (default: as traced, else momentum)")
      ->type_name("NAME")
      ->check(CLI::IsMember({"sgd", "momentum", "adam"}));
  command.add_flag("--skip-dynamic", options.skip_dynamic,
                   "leave out layers whose shapes are not fixed, and name them");
}

Result<predict::Demanded> read_demands(const NetworkOptions& options) {
  const auto network = read_network(options.network);
  if (!network) return fail(network.error());
  predict::DemandOptions how;
  if (options.batch > 0) how.batch = options.batch;
  if (options.image > 0) how.image = options.image;
  if (!options.precision.empty()) {
    const auto precision = parse_precision(options.precision);
    if (!precision) return fail(precision.error());
    how.precision = *precision;
  }
  if (!options.optimizer.empty()) {
    const auto optimizer = predict::parse_optimizer(options.optimizer);
    if (!optimizer) return fail(optimizer.error());
    how.optimizer = *optimizer;
  }
  how.skip_dynamic = options.skip_dynamic;
  return predict::demands_of(*network, how);
}

}  // namespace rubato::cli
