// One comparison each: what was measured, what the simulator gives, whether the two agree.
#pragma once

#include <string>
#include <vector>

namespace rubato::facts {

struct Row {
  std::string what;
  std::string measured;
  std::string simulated;
  std::string agreement;  // "yes", "no", "built in", each with the rule it was judged by
};

/// One Markdown table under a heading; `about` in front of it may be empty.
void print_section(const std::string& heading, const std::string& about, const std::vector<Row>& rows);

/// "yes" or "no" by a rule that is said: within `tolerance` of what was measured.
[[nodiscard]] std::string within(double simulated, double measured, double tolerance,
                                 const std::string& unit_text);
[[nodiscard]] std::string judged(bool agrees, const std::string& rule);
inline const std::string kBuiltIn = "built in";

// The items of the public measurements, in their order.
void print_time_and_power();  // 1 to 3
void print_caps();            // 4 to 7
void print_boards();          // 8 to 11
void print_prediction();      // 12 and 13
/// The tables under `data`; nothing where it is empty.
void print_tables(const std::string& data);

}  // namespace rubato::facts
