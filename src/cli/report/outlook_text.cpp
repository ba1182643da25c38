#include "cli/report/parts_text.h"
#include "cli/report/run_report.h"

namespace rubato::cli {
namespace {

std::string outlook_text(const analyse::Outlook& o, std::string (*text)(double)) {
  return o.interval ? cat(text(o.value), " (", text(o.interval->low), " to ", text(o.interval->high), ")")
                    : text(o.value);
}

std::string joules_text(double value) {
  return text_of(Joules(value));
}
std::string seconds_text(double value) {
  return text_of(Seconds(value));
}
std::string money_text(double value) {
  return fixed(value, value < 10 ? 3 : 2);
}

}  // namespace

std::string host_saving_text(const analyse::Savings& s, const analyse::HostWatts& host) {
  if (!s.run_saved_with_host || !host.value || !(s.run_longer > Seconds(0))) return {};
  const Joules with = *s.run_saved_with_host;
  std::string text = cat("With the ", text_of(*host.value), " the host drew meanwhile: ", text_of(abs(with)),
                         with >= Joules(0) ? " less" : " more", " for board and host");
  if (s.vanishes_at_host) text += cat("; at ", text_of(*s.vanishes_at_host), " nothing would be saved");
  return text + ".";
}

std::string weighed_saving_text(const analyse::Savings& s, const Goal& goal, std::size_t gpus) {
  if (!goal.second && !goal.idle) return {};
  std::string by;
  if (goal.second) by = cat("a second worth ", text_of(Joules(goal.second->value())));
  if (goal.host_watts)
    by += cat(by.empty() ? "" : " and ", text_of(*goal.host_watts), " of the host counted");
  if (goal.idle) by += cat(by.empty() ? "" : " and ", text_of(*goal.idle), " of an idle board left out");
  const Joules weighed = s.run_saved - static_cast<double>(gpus) * beside_board(goal) * s.run_longer;
  return cat("As it was asked to be weighed, with ", by,
             gpus == 1 ? ": " : " for each GPU: ", text_of(abs(weighed)),
             weighed >= Joules(0) ? " less." : " more.");
}

std::string footprint_text(const analyse::Footprint& f, const analyse::Factors& factors) {
  std::string text;
  if (f.co2_grams) text = cat(fixed(*f.co2_grams, *f.co2_grams < 10 ? 2 : 0), " g of CO2");
  if (f.cost) text += cat(text.empty() ? "" : " and ", money_text(*f.cost), " ", factors.price->currency);
  return cat(text, " for the GPUs' ",
             f.kwh < 0.01 ? cat(number(f.kwh * 1e3, 3), " Wh") : cat(number(f.kwh, 4), " kWh"), ", ", f.basis,
             ".");
}

std::string forecast_text(const analyse::Forecast& f, const analyse::Factors& factors) {
  const std::string kind =
      f.apportioned && f.kind == Kind::measured ? "apportioned" : std::string(name_of(f.kind));
  std::string text;
  if (f.total_seconds)
    text = cat("After ", f.epochs_done, " of ", *f.epochs_planned, " epochs, the training comes to ",
               outlook_text(*f.total_joules, joules_text), " of GPU energy in ",
               outlook_text(*f.total_seconds, seconds_text),
               f.total_cost ? cat(", ", outlook_text(*f.total_cost, money_text), " ", factors.price->currency,
                                  " at the price given")
                            : "",
               ".");
  else
    text =
        cat("One more epoch comes to ", outlook_text(f.epoch_joules, joules_text), " of GPU energy in ",
            outlook_text(f.epoch_seconds, seconds_text), "; how many there will be the program did not say.");
  if (f.epoch_joules.interval)
    text += " Ranges hold 95 of 100 times, as far as the rest is like what was seen.";
  else
    text += cat(" No range: ", f.epoch_joules.why_no_interval, ".");
  if (f.first_left_out) text += " The first epoch was slower and is left out of the mean.";
  return cat(text, " It rests on energies that were ", kind, ".");
}

}  // namespace rubato::cli
