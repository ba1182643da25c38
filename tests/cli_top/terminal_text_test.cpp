// What is sent, as a terminal would take it: a small one that knows the five sequences that are used.
#include "cli/top/terminal_text.h"

#include <gmock/gmock.h>
#include <rapidcheck.h>

#include "base/text.h"
#include "cli/top/draw.h"
#include "made_state.h"

namespace rubato::cli::top {
namespace {

using testing::HasSubstr;
using testing::Not;

class TinyTerminal {
 public:
  explicit TinyTerminal(Size size) : screen_(size) {}

  void take(const std::string& bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      if (bytes[at] != '\x1b') {
        std::size_t end = at + 1;
        while (end < bytes.size() && (static_cast<unsigned char>(bytes[end]) & 0xc0U) == 0x80) ++end;
        ASSERT_LT(row_, screen_.size().rows);
        ASSERT_LT(column_, screen_.size().columns);
        screen_.put(row_, column_++, bytes.substr(at, end - at), style_);
        at = end;
        continue;
      }
      ASSERT_EQ(bytes.at(at + 1), '[');
      const std::size_t end = bytes.find_first_not_of("0123456789;", at + 2);
      ASSERT_NE(end, std::string::npos);
      obey(bytes[end], split(std::string_view(bytes).substr(at + 2, end - at - 2), ';'));
      at = end + 1;
    }
  }

  [[nodiscard]] const Screen& screen() const { return screen_; }
  [[nodiscard]] Style style() const { return style_; }

 private:
  void obey(char what, const std::vector<std::string>& numbers) {
    if (what == 'H') {
      row_ = static_cast<std::size_t>(parse_integer(numbers.at(0)).value()) - 1;
      column_ = static_cast<std::size_t>(parse_integer(numbers.at(1)).value()) - 1;
    } else if (what == 'J') {
      screen_ = Screen(screen_.size());
    } else if (what == 'K') {
      for (std::size_t column = column_; column < screen_.size().columns; ++column)
        screen_.put(row_, column, " ", style_);
    } else {
      ASSERT_EQ(what, 'm');
      for (const std::string& number : numbers) {
        if (number == "0") style_ = {};
        if (number == "1") style_.bold = true;
        if (number == "2") style_.faint = true;
        if (number == "7") style_.reverse = true;
        if (number == "31") style_.colour = Colour::red;
        if (number == "32") style_.colour = Colour::green;
        if (number == "33") style_.colour = Colour::yellow;
      }
    }
  }

  Screen screen_;
  Style style_;
  std::size_t row_ = 0;
  std::size_t column_ = 0;
};

bool same(const Screen& a, const Screen& b) {
  for (std::size_t row = 0; row < a.size().rows; ++row)
    for (std::size_t column = 0; column < a.size().columns; ++column)
      if (!(a.at(row, column) == b.at(row, column))) return false;
  return true;
}

Screen arbitrary_screen(Size size) {
  Screen screen(size);
  const auto pieces = *rc::gen::inRange<std::size_t>(0, 12);
  for (std::size_t i = 0; i < pieces; ++i) {
    const Style style{.bold = *rc::gen::arbitrary<bool>(),
                      .reverse = *rc::gen::inRange(0, 5) == 0,
                      .colour = *rc::gen::element(Colour::none, Colour::green, Colour::red)};
    screen.put(*rc::gen::inRange<std::size_t>(0, size.rows), *rc::gen::inRange<std::size_t>(0, size.columns),
               *rc::gen::element<std::string>("a", "GPU", "12.3 % ±0.4", "          ", "…", "power limit"),
               style);
  }
  return screen;
}

TEST(Changes, TurnAnyScreenIntoAnyOther) {
  EXPECT_TRUE(rc::check([] {
    const Size size{*rc::gen::inRange<std::size_t>(1, 6), *rc::gen::inRange<std::size_t>(1, 40)};
    TinyTerminal terminal(size);
    std::optional<Screen> shown;
    for (int frame = 0; frame < 4; ++frame) {
      const Screen wanted = arbitrary_screen(size);
      terminal.take(changes(shown, wanted, {}));
      RC_ASSERT(same(terminal.screen(), wanted));
      RC_ASSERT(terminal.style() == Style{});
      shown = wanted;
    }
  }));
}

TEST(Changes, AreNoneWhereNothingChanged) {
  const Screen screen = draw(made_state(), {}, {24, 80});
  EXPECT_EQ(changes(screen, screen, {}), "");
}

TEST(Changes, OfOneFigureAreAFewBytes) {
  State state = made_state();
  const Screen before = draw(state, {}, {24, 80});
  state.gpus[1].power = 71.5_W;
  state.time_of_day = "12:22:35";
  const std::string sent = changes(before, draw(state, {}, {24, 80}), {});
  // The sum, the board's power and the last digit of the time.
  EXPECT_LE(sent.size(), 48U) << sent;
}

TEST(Changes, WithoutColourOnlyPlaceTheText) {
  TinyTerminal terminal({24, 80});
  const Screen screen = draw(made_state(), {}, {24, 80});
  const std::string sent = changes(std::nullopt, screen, {.colour = false});
  EXPECT_THAT(sent.substr(4),
              Not(testing::ContainsRegex("\x1b\\[[0-9;]*m")));  // behind what makes the style plain
  terminal.take(sent);
  for (std::size_t row = 0; row < 24; ++row) EXPECT_EQ(terminal.screen().text(row), screen.text(row));
}

TEST(Changes, WithoutUnicodeAreAscii) {
  const std::string sent = changes(std::nullopt, draw(made_state(), {}, {24, 80}), {.unicode = false});
  for (const char c : sent) EXPECT_LT(static_cast<unsigned char>(c), 0x80U);
  EXPECT_THAT(sent, HasSubstr("12.3 % +0.4"));
}

TEST(Changes, AfterTheSizeChangedBeginAnew) {
  const Screen small = draw(made_state(), {}, {10, 40});
  TinyTerminal terminal({24, 80});
  const Screen large = draw(made_state(), {}, {24, 80});
  terminal.take(changes(small, large, {}));
  EXPECT_TRUE(same(terminal.screen(), large));
}

}  // namespace
}  // namespace rubato::cli::top
