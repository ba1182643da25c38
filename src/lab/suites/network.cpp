#include "lab/suites/network.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <utility>

#include "base/text.h"
#include "core/csv_cells.h"
#include "lab/suites/tables.h"

namespace rubato::lab {
namespace {

using Cells = std::vector<std::string>;

template <class T, std::size_t N>
using Words = std::array<std::pair<std::string_view, T>, N>;

constexpr Words<OperatorClass, 5> kClasses = {{{"convolution", OperatorClass::convolution},
                                               {"grouped", OperatorClass::grouped},
                                               {"matrix", OperatorClass::matrix},
                                               {"recurrent", OperatorClass::recurrent},
                                               {"gather", OperatorClass::gather}}};
constexpr Words<Precision, 3> kPrecisions = {
    {{"amp", Precision::amp}, {"tf32", Precision::tf32}, {"fp32", Precision::fp32}}};
constexpr Words<Optimizer, 2> kOptimizers = {{{"sgd", Optimizer::sgd}, {"adam", Optimizer::adam}}};

template <class T, std::size_t N>
Result<T> word(const Words<T, N>& words, std::string_view cell) {
  for (const auto& [name, value] : words)
    if (name == cell) return value;
  return fail(ErrorCode::invalid_argument, cat("'", cell, "' is none of the words that may stand there"));
}

Result<double> number(std::string_view cell) {
  double out = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), out);
  if (error != std::errc{} || end != cell.data() + cell.size() || !std::isfinite(out) || out < 0)
    return fail(ErrorCode::invalid_argument, cat("'", cell, "' is no number that may stand there"));
  return out;
}

/// Below the heading, one call a row; comments and the heading are left out.
Status each_row(std::string_view csv, std::size_t columns, const std::function<Status(const Cells&)>& row) {
  std::size_t line = 0;
  bool heading = true;
  while (!csv.empty()) {
    const std::size_t end = std::min(csv.find('\n'), csv.size());
    const std::string_view text = csv.substr(0, end);
    csv.remove_prefix(std::min(end + 1, csv.size()));
    ++line;
    if (text.empty() || text.front() == '#') continue;
    if (std::exchange(heading, false)) continue;
    const auto cells = csv_cells(text);
    if (!cells) return fail(ErrorCode::invalid_argument, cat("line ", line, ": ", cells.error().what));
    if (cells->size() != columns)
      return fail(ErrorCode::invalid_argument,
                  cat("line ", line, " has ", cells->size(), " cells, not ", columns));
    if (Status done = row(*cells); !done)
      return fail(ErrorCode::invalid_argument, cat("line ", line, ": ", done.error().what));
  }
  return {};
}

Result<Network> network_of(const Cells& cells) {
  Network out;
  out.name = cells[0];
  out.family = cells[1];
  out.source = cells[11];
  const auto kind = word(kClasses, cells[2]);
  const auto optimizer = word(kOptimizers, cells[7]);
  if (!kind) return fail(kind.error());
  if (!optimizer) return fail(optimizer.error());
  out.kind = *kind;
  out.optimizer = *optimizer;
  const std::array<std::pair<double*, double>, 6> figures = {{{&out.multiply_adds, 1e9},
                                                              {&out.activations, 1e6},
                                                              {&out.parameters, 1e6},
                                                              {&out.operators, 1},
                                                              {&out.load_s, 1e-6},
                                                              {&out.host_s, 1e-6}}};
  constexpr std::array<std::size_t, 6> kColumns = {3, 4, 5, 6, 8, 9};
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const auto value = number(cells[kColumns[i]]);
    if (!value) return fail(value.error());
    *figures[i].first = *value * figures[i].second;
  }
  if (!cells[10].empty()) {
    const auto value = number(cells[10]);
    if (!value) return fail(value.error());
    out.rtx3090_per_s = *value;
  }
  if (out.source.empty()) return fail(ErrorCode::invalid_argument, "a row without a source");
  return out;
}

Result<Training> training_of(const Cells& cells, const std::vector<Network>& networks) {
  const auto network = std::find_if(networks.begin(), networks.end(),
                                    [&](const Network& one) { return one.name == cells[0]; });
  if (network == networks.end())
    return fail(ErrorCode::not_found, cat("there is no network '", cells[0], "'"));
  const auto batch = number(cells[1]);
  const auto precision = word(kPrecisions, cells[2]);
  if (!batch) return fail(batch.error());
  if (!precision) return fail(precision.error());
  if (*batch < 1) return fail(ErrorCode::invalid_argument, "a batch holds at least one sample");
  return Training{&*network, static_cast<unsigned>(*batch), *precision};
}

}  // namespace

std::string_view name_of(Precision precision) {
  for (const auto& [name, value] : kPrecisions)
    if (value == precision) return name;
  return {};
}

std::string name_of(const Training& training) {
  return cat(training.network->name, "-b", training.batch, "-", name_of(training.precision));
}

Result<std::vector<Network>> parse_networks(std::string_view csv) {
  std::vector<Network> out;
  const Status read = each_row(csv, 12, [&](const Cells& cells) -> Status {
    auto network = network_of(cells);
    if (!network) return fail(network.error());
    out.push_back(std::move(*network));
    return {};
  });
  if (!read) return fail(read.error());
  return out;
}

Result<std::vector<Training>> parse_trainings(std::string_view csv, const std::vector<Network>& networks) {
  std::vector<Training> out;
  const Status read = each_row(csv, 3, [&](const Cells& cells) -> Status {
    const auto training = training_of(cells, networks);
    if (!training) return fail(training.error());
    out.push_back(*training);
    return {};
  });
  if (!read) return fail(read.error());
  return out;
}

// Built in: what does not parse is a fault of the build, and the tests read every table.
const std::vector<Network>& networks() {
  static const std::vector<Network> kAll = parse_networks(networks_csv()).value();
  return kAll;
}

const std::vector<Training>& desktop_trainings() {
  static const std::vector<Training> kAll = parse_trainings(gpoeo_71_csv(), networks()).value();
  return kAll;
}

const std::vector<Training>& server_trainings() {
  static const std::vector<Training> kAll = parse_trainings(server_30_csv(), networks()).value();
  return kAll;
}

}  // namespace rubato::lab
