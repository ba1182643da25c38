#include "cli/top/screen.h"

#include <gtest/gtest.h>

namespace rubato::cli::top {
namespace {

std::string shown(std::string_view text) {
  std::string out;
  for (const char32_t glyph : glyphs_of(text)) append_utf8(out, glyph);
  return out;
}

TEST(Glyphs, OfOneColumnStay) {
  EXPECT_EQ(shown("Größe ± 3 % … ↑ Ω Ж"), "Größe ± 3 % … ↑ Ω Ж");
}

TEST(Glyphs, WhatATerminalWouldObeyOrDrawOtherwiseIsAQuestionMark) {
  EXPECT_EQ(shown("\x1b[2J\r\n\t\x7f"), "?[2J????");
  EXPECT_EQ(shown("\xc2\x9b"), "?");      // U+009B, a control sequence introducer of one character
  EXPECT_EQ(shown("a\xcc\x81"), "a?");    // a combining accent
  EXPECT_EQ(shown("\xe2\x80\xae"), "?");  // right-to-left override
  EXPECT_EQ(shown("\xe6\xbc\xa2\xf0\x9f\x98\x80"), "??");  // a wide ideograph, an emoji
}

TEST(Glyphs, WhatIsNoUtf8IsAQuestionMarkPerByte) {
  EXPECT_EQ(shown("a\xff\xc3"), "a??");
  EXPECT_EQ(shown("\xc0\xaf"), "??");         // overlong
  EXPECT_EQ(shown("\xe2\x80"), "??");         // cut short
  EXPECT_EQ(shown("\xed\xa0\x80x"), "???x");  // half of a surrogate pair
}

TEST(Screen, KeepsTextInsideItself) {
  Screen screen({2, 5});
  EXPECT_EQ(screen.put(0, 3, "abc"), 5U);
  screen.put(7, 0, "nowhere");
  screen.put(1, 9, "nowhere");
  EXPECT_EQ(screen.text(0), "   a…");
  EXPECT_EQ(screen.text(1), "");
  EXPECT_EQ(screen.put_cut(1, 0, 0, "x"), 0U);
}

}  // namespace
}  // namespace rubato::cli::top
