#include "cli/report/iteration_text.h"

#include <algorithm>
#include <cmath>

#include "cli/report/counter_values.h"

namespace rubato::cli {
namespace {

// Of a long list the first and the last say most.
constexpr std::size_t kAtEachEnd = 5;

std::string relation_text(PeriodRelation relation, std::string_view of_what) {
  switch (relation) {
    case PeriodRelation::exact:
      return {};
    case PeriodRelation::multiple:
      return cat(" (a multiple of ", of_what, ": the sensor is too slow to show each)");
    case PeriodRelation::beat:
      return cat(" (a beat of ", of_what, " and the sensor: shorter than can be seen)");
  }
  return {};
}

// A period is known better than most durations: with three digits at least, "0.412 s".
std::string period_text(Seconds period) {
  const double s = period.value();
  if (s < 0.1 || s >= 10) return text_of(period);
  return cat(fixed(s, s < 1 ? 3 : 2), " s");
}

std::string length_text(const IterationEstimate& e, std::string_view of_what = "the iteration") {
  if (!e.periodic || !e.period) return "none was found";
  std::string error;
  if (e.half_width) error = *e.half_width < 1 ? cat(" ± ", percent(*e.half_width)) : " ± more than that";
  return cat(period_text(*e.period), error, relation_text(e.relation, of_what));
}

std::string with(std::string_view before, const std::string& text) {
  return text.empty() ? std::string() : cat(before, text);
}

class IterationText {
 public:
  IterationText(Page& page, const record::RunRecord& run, const analyse::IterationView& view)
      : page_(page), run_(run), view_(view) {}

  void brief() {
    if (view_.in_use) {
      const IterationEstimate& e = view_.in_use->estimate;
      page_.say(cat(iteration_text(e), with(e.periodic ? "" : ": ", e.periodic ? "" : e.why),
                    with("; ", view_.in_use->check), "."));
    } else if (!view_.others.empty()) {
      page_.say("No source was sure enough of an iteration.");
    }
    if (view_.rate) page_.say(cat("Progress was counted instead: ", rate_text(view_.rate->rate), "."));
    if (const std::size_t n = run_.shifts.size(); n > 0)
      page_.say(
          cat("The job changed ", n == 1 ? "once" : cat(n, " times"), ": rubato show ", run_.info.run_id));
  }

  void full() {
    if (view_.in_use)
      in_use(*view_.in_use);
    else if (!view_.others.empty())
      page_.row("length", "no source was sure enough of one");
    for (const record::IterationStatement& other : view_.others) {
      const IterationEstimate& e = other.estimate;
      page_.row(name_of(e.source),
                // Of the iteration only where the one in use agrees.
                cat(length_text(e, "what repeats"), ", ", sureness_text(e.confidence), with(": ", e.why),
                    other.used ? "" : with("; ", other.check), ", at ", since_begin(e.at)));
    }
    if (view_.rate) page_.row("progress", cat(rate_text(view_.rate->rate), with(": ", view_.rate->rate.why)));
    if (view_.found) page_.row("found", cat(since_begin(*view_.found), " after the start"));
    if (const auto over = analyse::tuning_over(run_))
      page_.row("autotuning", cat("over after ", since_begin(over->at), ": ", over->why));
    course();
  }

 private:
  void in_use(const record::IterationStatement& statement) {
    const IterationEstimate& e = statement.estimate;
    page_.row("length",
              cat(length_text(e), e.launches ? cat(", ", *e.launches, " kernel launches each") : ""));
    page_.row("from", cat(name_of(e.source), ", ", sureness_text(e.confidence), with(": ", e.why)));
    if (e.drift_per_minute && *e.drift_per_minute != 0)
      page_.row("drift", cat(*e.drift_per_minute > 0 ? "+" : "", percent(*e.drift_per_minute), " a minute"));
    if (!statement.check.empty()) page_.row("checks", statement.check);
  }

  void course() {
    const std::size_t n = view_.course.size();
    if (n < 2) return;
    for (std::size_t i = 0; i < n; ++i) {
      if (n > 2 * kAtEachEnd && i == kAtEachEnd) {
        i = n - kAtEachEnd;
        page_.line(cat("  … ", n - 2 * kAtEachEnd, " more: rubato show ", run_.info.run_id, " --json"));
      }
      page_.timed(view_.course[i].estimate.at - run_.info.begin, iteration_text(view_.course[i].estimate));
    }
  }

  [[nodiscard]] std::string since_begin(TimePoint at) const {
    return text_of(std::max(Seconds(0), at - run_.info.begin));
  }

  Page& page_;
  const record::RunRecord& run_;
  const analyse::IterationView& view_;
};

std::string shift_value(double value, const std::string& unit) {
  if (unit == "s") return period_text(Seconds(value));
  if (unit == "W") return text_of(Watts(value));
  if (unit.empty()) return percent(value);
  return scaled(value, unit);
}

}  // namespace

std::string sureness_text(double confidence) {
  const std::string number =
      cat(fixed(std::floor(100 * std::clamp(confidence, 0.0, 1.0) + 1e-9), 0), " % sure");
  if (confidence >= 0.95) return number;
  return cat(confidence >= 0.8 ? "likely, " : confidence >= 0.5 ? "uncertain, " : "a guess, ", number);
}

std::string iteration_text(const IterationEstimate& e) {
  return cat(length_text(e), e.periodic ? ", from " : " in ", name_of(e.source), " (",
             sureness_text(e.confidence), ")");
}

std::string rate_text(const ProgressRate& rate) {
  std::string text;
  switch (rate.kind) {
    case RateKind::instructions:
      text = cat(scaled(rate.per_second, ""), " instructions a second");
      break;
    case RateKind::kernels:
      text = cat(scaled(rate.per_second, ""), " kernels a second");
      break;
    case RateKind::busy_time:
      text = cat("busy ", percent(rate.per_second), " of the time");
      break;
  }
  return cat(text, rate.half_width ? cat(" ± ", percent(*rate.half_width)) : "", " (",
             sureness_text(rate.confidence), ")");
}

void iteration_view_text(Page& page, const record::RunRecord& run, bool brief) {
  const auto view = analyse::iteration_view(run);
  if (!view) return;
  page.heading("Iteration");
  IterationText text(page, run, *view);
  if (brief)
    text.brief();
  else
    text.full();
}

void shifts_text(Page& page, const record::RunRecord& run) {
  if (run.shifts.empty()) return;
  page.heading(cat("The job changed (", run.shifts.size(), ")"));
  const std::size_t n = run.shifts.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (n > 2 * kAtEachEnd && i == kAtEachEnd) {
      i = n - kAtEachEnd;
      page.line(cat("  … ", n - 2 * kAtEachEnd, " more: rubato show ", run.info.run_id, " --json"));
    }
    const Shift& s = run.shifts[i].shift;
    page.timed(std::max(Seconds(0), s.at - run.info.begin),
               cat(run.devices.size() > 1 ? cat(gpu_name(run, run.shifts[i].gpu), ": ") : "", s.what, " ",
                   shift_value(s.from, s.unit), " → ", shift_value(s.to, s.unit), ", noticed ",
                   text_of(s.noticed - s.at), " later", with(": ", s.why)));
  }
}

}  // namespace rubato::cli
