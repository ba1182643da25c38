#include "govern/rubato/setting_log.h"

#include <gmock/gmock.h>

#include <utility>
#include <vector>

namespace rubato::govern {
namespace {

using testing::ElementsAre;
using testing::Pair;

TimePoint at(double seconds) {
  return TimePoint{} + Seconds(seconds);
}

std::vector<std::pair<std::size_t, double>> told(SettingLog& log, double from, double to) {
  std::vector<std::pair<std::size_t, double>> out;
  log.tell(at(from), at(to),
           [&](std::size_t setting, Seconds time) { out.emplace_back(setting, time.value()); });
  return out;
}

TEST(SettingLog, TellsWhatWasInForceAndNotWhatIsNow) {
  SettingLog log;
  for (const double now : {0.0, 1.0, 2.0, 3.0}) log.see(at(now), 7);
  log.see(at(4), 2);  // asked for at 3
  log.see(at(5), 2);
  EXPECT_THAT(told(log, 0, 2.5), ElementsAre(Pair(7U, 2.5)));
  EXPECT_THAT(told(log, 2.5, 4.5), ElementsAre(Pair(7U, 0.5), Pair(2U, 1.5)));
  EXPECT_THAT(told(log, 4.5, 5), ElementsAre(Pair(2U, 0.5)));
}

TEST(SettingLog, KeepsSeveralChangesThatNothingWasToldOfYet) {
  SettingLog log;
  log.see(at(0), 0);
  log.see(at(1), 1);
  log.see(at(2), 0);
  log.see(at(3), 3);
  EXPECT_THAT(told(log, 0, 10), ElementsAre(Pair(1U, 1.0), Pair(0U, 1.0), Pair(3U, 8.0)));
}

TEST(SettingLog, BeforeAnythingWasSeenItWasTheSame) {
  SettingLog log;
  EXPECT_THAT(told(log, 0, 1), ElementsAre());
  log.see(at(5), 4);
  EXPECT_THAT(told(log, 0, 6), ElementsAre(Pair(4U, 6.0)));
}

}  // namespace
}  // namespace rubato::govern
