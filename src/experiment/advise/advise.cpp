#include "experiment/advise/advise.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "base/percent.h"
#include "base/text.h"

namespace rubato::experiment {
namespace {

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      words.back() += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// "SXM" is "SXM2" as well: a word, or a word and the number of its revision.
bool is_word(const std::string& in_table, const std::string& by_driver) {
  if (in_table == by_driver) return true;
  const bool ends_in_letter = std::isalpha(static_cast<unsigned char>(in_table.back())) != 0;
  return ends_in_letter && by_driver.starts_with(in_table) &&
         std::all_of(by_driver.begin() + static_cast<std::ptrdiff_t>(in_table.size()), by_driver.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

// Behind the name of one board these make another, with its own chip or its own limits.
constexpr std::array kOtherBoard = {"TI", "SUPER", "D", "LAPTOP", "MOBILE", "MAX", "ADA", "BLACKWELL"};

bool makes_another(const std::string& word) {
  return std::find(kOtherBoard.begin(), kOtherBoard.end(), word) != kOtherBoard.end();
}

std::string refusal(const ModelFacts& facts, const std::string& gpu) {
  std::string seen;
  for (const std::string& name : facts.gpus_seen) seen += cat(seen.empty() ? "" : ", ", name);
  if (!seen.empty() && facts.highest_limit) seen += cat(" of ", *facts.highest_limit);
  std::string out = cat(facts.name, " has never seen a ", gpu,
                        seen.empty() ? std::string() : cat(" (it has seen ", seen, ")"));
  if (!facts.on_unseen_gpus)
    return out + ", and it saw too few GPUs to tell what its advice is worth on another";
  return cat(out, "; on GPUs it had not seen, its advice saved ", short_percent(facts.on_unseen_gpus->low),
             " to ", short_percent(facts.on_unseen_gpus->high),
             " (90 % interval of the mean), so it may as well have lost");
}

std::string highest_named(const predict::Known& known) {
  const auto highest = known.highest.power_limit;
  return highest ? cat(known.gpu, " of ", *highest) : known.gpu;
}

/// As the model's own table told of it.
void reduce(predict::Known& known, std::span<const Knob> knobs) {
  known.at_default.at = predict::only(known.at_default.at, knobs);
  known.highest = predict::only(known.highest, knobs);
  for (predict::Observed& probe : known.probes) probe.at = predict::only(probe.at, knobs);
}

}  // namespace

bool same_board(std::string_view in_table, std::string_view by_driver) {
  const auto wanted = words_of(in_table);
  const auto there = words_of(by_driver);
  const auto all_there = std::all_of(wanted.begin(), wanted.end(), [&](const std::string& word) {
    return std::any_of(there.begin(), there.end(), [&](const std::string& w) { return is_word(word, w); });
  });
  return !wanted.empty() && all_there &&
         std::none_of(there.begin(), there.end(), [&](const std::string& word) {
           return makes_another(word) && std::find(wanted.begin(), wanted.end(), word) == wanted.end();
         });
}

Status check_knobs(const ModelFacts& facts, std::span<const Knob> wanted) {
  if (facts.knobs.empty()) return {};
  for (const Knob knob : wanted)
    if (std::find(facts.knobs.begin(), facts.knobs.end(), knob) == facts.knobs.end())
      return fail(ErrorCode::invalid_argument,
                  cat(facts.name, " did not learn what the ", name_of(knob), " does"),
                  cat("name its own knobs with --knobs, or train one with --knobs ", name_of(knob)));
  return {};
}

Result<Advice> advise(const predict::Model& model, const ModelFacts& facts, const AdviceRequest& request) {
  Advice out;
  const auto seen =
      std::find_if(facts.gpus_seen.begin(), facts.gpus_seen.end(),
                   [&](const std::string& name) { return same_board(name, request.known.gpu); });
  constexpr double kSameLimit = 0.02;
  const auto highest = request.known.highest.power_limit;
  const bool other_limit =
      facts.highest_limit && highest && std::abs(*highest / *facts.highest_limit - 1) > kSameLimit;
  out.gpu_seen = seen != facts.gpus_seen.end() && !other_limit;
  const bool helps_unseen = facts.on_unseen_gpus && facts.on_unseen_gpus->low > 0;
  if (!out.gpu_seen && !helps_unseen) {
    out.refused = refusal(facts, highest_named(request.known));
    return out;
  }
  predict::Known known = request.known;
  if (out.gpu_seen) known.gpu = *seen;  // as the model calls it
  if (!facts.knobs.empty()) reduce(known, facts.knobs);
  auto believed = model.predict(known, request.candidates);
  if (!believed) return fail(believed.error());
  const Watts board = request.known.at_default.power();
  out.choice = plan::choose(*believed, request.goal, board, true, request.caution);
  if (out.choice.setting) out.at = believed->at[*out.choice.setting];
  out.price = plan::price_of_a_second(*believed, out.choice.setting, board,
                                      request.goal.host_watts.value_or(Watts(0)));
  out.believed = std::move(*believed);
  return out;
}

}  // namespace rubato::experiment
