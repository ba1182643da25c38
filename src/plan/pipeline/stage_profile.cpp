#include "plan/pipeline/stage_profile.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/text.h"
#include "core/csv_cells.h"

namespace rubato::plan {
namespace {

constexpr std::array<std::string_view, 5> kColumns = {"stage", "instruction", "frequency", "time", "energy"};
enum Column : std::size_t { stage, instruction, frequency, time, energy };
constexpr std::int64_t kMostStages = 4096;
// Nothing that is measured lies outside.
constexpr double kLeast = 1e-9;
constexpr double kMost = 1e6;
// Nor does a clock of a GPU, or what the boards of one stage draw: those are GHz, Hz and millijoules.
constexpr Megahertz kLowestClock{10};
constexpr Megahertz kHighestClock{10000};
constexpr Watts kMostPower{1e5};

class Reader {
 public:
  Reader(std::string_view text, std::string_view name) : rest_(text), name_(name) {}

  Result<StageProfile> read() {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
    while (!rest_.empty()) {
      ++line_;
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      const std::string_view line = trim(rest_.substr(0, end));
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      if (line.empty() || line.starts_with('#')) continue;
      const auto cells = csv_cells(line);
      if (!cells) return bad(cells.error().what);
      if (Status taken = header_ ? row(*cells) : header(*cells); !taken) return fail(taken.error());
    }
    if (!header_)
      return fail(ErrorCode::invalid_argument, cat(name_, ": there is no header line"),
                  "it needs the columns stage,instruction,frequency,time,energy");
    return whole();
  }

 private:
  struct Row {
    StageOption option;
    std::size_t line = 0;
  };
  using Of = std::tuple<std::int64_t, PipelinePass>;

  tl::unexpected<Error> bad(std::string_view what, std::string hint = {}) const {
    return fail(ErrorCode::invalid_argument, cat(name_, ", line ", line_, ": ", what), std::move(hint));
  }

  Status header(const std::vector<std::string>& cells) {
    for (const std::string& cell : cells) {
      const auto known = std::find(kColumns.begin(), kColumns.end(), trim(cell));
      if (known == kColumns.end())
        return bad(cat("unknown column '", cell, "'"),
                   "a stage profile has stage,instruction,frequency,time,energy and no other column");
      const auto column = static_cast<std::size_t>(known - kColumns.begin());
      if (std::find(order_.begin(), order_.end(), column) != order_.end())
        return bad(cat("column ", *known, " stands there twice"));
      order_.push_back(column);
    }
    for (std::size_t column = 0; column < kColumns.size(); ++column)
      if (std::find(order_.begin(), order_.end(), column) == order_.end())
        return bad(cat("column ", kColumns[column], " is missing"),
                   "a stage profile has stage,instruction,frequency,time,energy");
    header_ = true;
    return {};
  }

  Result<double> positive(Column column, std::string_view cell) const {
    const auto value = parse_number(cell);
    if (!value) return bad(cat("column ", kColumns[column], ": '", cell, "' is no number"));
    if (!(*value >= kLeast && *value <= kMost))
      return bad(cat("column ", kColumns[column], ": ", cell, " must be above zero and below ", kMost));
    return *value;
  }

  Status row(const std::vector<std::string>& cells) {
    if (cells.size() != kColumns.size())
      return bad(cat("it has ", cells.size(), " cells; the header has ", kColumns.size()));
    std::array<std::string_view, kColumns.size()> at;
    for (std::size_t i = 0; i < cells.size(); ++i) at[order_[i]] = trim(cells[i]);
    const auto number = parse_integer(at[stage]);
    if (!number || *number < 0 || *number >= kMostStages)
      return bad(cat("column stage: '", at[stage], "' is no whole number from 0 to ", kMostStages - 1));
    const auto pass = std::find_if(kPipelinePasses.begin(), kPipelinePasses.end(),
                                   [&](PipelinePass p) { return name_of(p) == at[instruction]; });
    if (pass == kPipelinePasses.end())
      return bad(cat("column instruction: '", at[instruction], "' is neither forward nor backward"));
    const auto clock = positive(frequency, at[frequency]);
    if (!clock) return fail(clock.error());
    const auto seconds = positive(time, at[time]);
    if (!seconds) return fail(seconds.error());
    const auto joules = positive(energy, at[energy]);
    if (!joules) return fail(joules.error());
    const Row taken{{Megahertz(*clock), Seconds(*seconds), Joules(*joules)}, line_};
    if (taken.option.frequency < kLowestClock || taken.option.frequency > kHighestClock)
      return bad(cat("column frequency: '", at[frequency], "' is no clock in MHz"),
                 "one unit in a column: MHz, s, J");
    if (taken.option.energy / taken.option.time > kMostPower)
      return bad(cat("energy ", at[energy], " in time ", at[time], " is ",
                     taken.option.energy / taken.option.time, ": are the units mixed?"),
                 "one unit in a column: MHz, s, J");
    const auto [before, added] = rows_[{*number, *pass}].try_emplace(*clock, taken);
    if (!added)
      return bad(cat("stage ", *number, " ", name_of(*pass), " at ", Megahertz(*clock), " stood in line ",
                     before->second.line, " already"));
    clocks_.insert(*clock);
    return {};
  }

  Result<StageProfile> whole() {
    const auto hole = [&](const std::string& what) {
      return fail(ErrorCode::invalid_argument, cat(name_, ": ", what),
                  "profile every stage, forward and backward, at every clock");
    };
    if (rows_.empty()) return hole("there is no row");
    const std::int64_t stages = std::get<0>(rows_.rbegin()->first) + 1;
    StageProfile profile{std::string(name_), {}};
    for (std::int64_t number = 0; number < stages; ++number) {
      Stage& made = profile.stages.emplace_back();
      for (const PipelinePass pass : kPipelinePasses) {
        const auto found = rows_.find({number, pass});
        if (found == rows_.end()) return hole(cat("stage ", number, " has no ", name_of(pass)));
        for (auto clock = clocks_.rbegin(); clock != clocks_.rend(); ++clock) {
          const auto at = found->second.find(*clock);
          if (at == found->second.end())
            return hole(cat("stage ", number, " ", name_of(pass), " has no row at ", Megahertz(*clock),
                            ", which others have"));
          made.of(pass).push_back(at->second.option);
        }
      }
    }
    return profile;
  }

  std::string_view rest_;
  std::string_view name_;
  std::size_t line_ = 0;
  bool header_ = false;
  std::vector<std::size_t> order_;  // which of kColumns a cell is
  std::map<Of, std::map<double, Row>> rows_;
  std::set<double> clocks_;
};

}  // namespace

std::string_view name_of(PipelinePass pass) {
  return pass == PipelinePass::forward ? "forward" : "backward";
}

Result<StageProfile> read_stage_profile(std::string_view text, std::string_view name) {
  return Reader(text, name).read();
}

Result<StageProfile> slowed(StageProfile profile, std::size_t stage, double factor) {
  if (stage >= profile.stages.size())
    return fail(ErrorCode::invalid_argument, cat("straggler stage ", stage, ": ", profile.name,
                                                 " has stages 0 to ", profile.stages.size() - 1));
  if (!(factor >= 1 && factor <= 1000))
    return fail(ErrorCode::invalid_argument,
                cat("straggler stage ", stage, ": factor ", factor, " must be from 1 to 1000"),
                "1.2 is a stage that takes 20 % longer");
  for (auto& pass : profile.stages[stage].passes)
    for (StageOption& option : pass) {
      option.time *= factor;
      option.energy *= factor;
    }
  return profile;
}

}  // namespace rubato::plan
