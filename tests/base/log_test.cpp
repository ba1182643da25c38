#include "base/log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/fd.h"

namespace rubato::log {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

/// Standard error as a pipe of one page whose reader stands still until read().
class StandingReader {
 public:
  StandingReader() : before_(::dup(STDERR_FILENO)) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    reader_.reset(ends[0]);
    EXPECT_GT(::fcntl(ends[1], F_SETPIPE_SZ, 4096), 0);
    EXPECT_EQ(::fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[1]);
  }
  ~StandingReader() { ::dup2(before_.get(), STDERR_FILENO); }
  StandingReader(const StandingReader&) = delete;
  StandingReader& operator=(const StandingReader&) = delete;

  std::string read() {
    std::array<char, 8192> text{};
    const ssize_t got = ::read(reader_.get(), text.data(), text.size());
    return got > 0 ? std::string(text.data(), static_cast<std::size_t>(got)) : std::string();
  }

 private:
  ScopedFd before_;
  ScopedFd reader_;
};

TEST(Log, WhoMustNotWaitDropsLinesNobodyReadsAndTellsHowMany) {
  drop_what_would_wait();
  StandingReader reader;
  for (int i = 0; i < 100; ++i) warning(std::string(200, 'x'));
  const std::string first = reader.read();
  ASSERT_THAT(first, HasSubstr("rubato: warning: xxx"));
  const auto written = static_cast<std::size_t>(std::count(first.begin(), first.end(), '\n'));
  warning("again");
  EXPECT_EQ(reader.read(), "rubato: warning: again (before this, " + std::to_string(100 - written) +
                               " lines that nobody read were dropped)\n");
}

TEST(Log, ALineThatMightNotFitIsCutBetweenCharacters) {
  drop_what_would_wait();
  StandingReader reader;
  std::string accents;
  for (int i = 0; i < 3000; ++i) accents += "é";
  for (const std::string before : {"", "x"}) {  // the cut falls into a character in one of them
    warning(before + accents);
    const std::string line = reader.read();
    EXPECT_LT(line.size(), 2100U);
    EXPECT_THAT(line, EndsWith("é…\n"));
  }
}

}  // namespace
}  // namespace rubato::log
