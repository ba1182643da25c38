#include "cli/top/keys.h"

#include <gmock/gmock.h>
#include <rapidcheck.h>

namespace rubato::cli::top {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<KeyPress> keys_of(std::string_view bytes) {
  KeyReader reader;
  std::vector<KeyPress> keys;
  reader.read(bytes, keys);
  reader.nothing_followed(keys);
  return keys;
}

constexpr KeyPress letter(char c) {
  return {Key::character, c};
}
constexpr KeyPress special(Key key) {
  return {key, 0};
}

TEST(Keys, LettersAreThemselves) {
  EXPECT_THAT(keys_of("q? \t\x0c"),
              ElementsAre(letter('q'), letter('?'), letter(' '), letter('\t'), letter('\x0c')));
}

TEST(Keys, OfBothCursorModesAndSeveralTerminals) {
  EXPECT_THAT(keys_of("\x1b[A\x1bOB\x1b[5~\x1b[6~\x1b[H\x1b[4~\x1b[Z\x1bOP\x1b[11~"),
              ElementsAre(special(Key::up), special(Key::down), special(Key::page_up),
                          special(Key::page_down), special(Key::home), special(Key::end),
                          special(Key::back_tab), special(Key::f1), special(Key::f1)));
}

TEST(Keys, WithModifiersAreTheSame) {
  EXPECT_THAT(keys_of("\x1b[1;5A\x1b[6;2~"), ElementsAre(special(Key::up), special(Key::page_down)));
}

TEST(Keys, EscapeAloneIsKnownWhenNothingFollows) {
  KeyReader reader;
  std::vector<KeyPress> keys;
  reader.read("\x1b", keys);
  EXPECT_THAT(keys, IsEmpty());
  EXPECT_TRUE(reader.waits());
  reader.nothing_followed(keys);
  EXPECT_THAT(keys, ElementsAre(special(Key::escape)));
  EXPECT_FALSE(reader.waits());
}

TEST(Keys, WhatIsNoKeyIsSwallowedToItsEnd) {
  EXPECT_THAT(keys_of("\x1b[200~q"), ElementsAre(letter('q')));      // a paste begins
  EXPECT_THAT(keys_of("\x1b[?62;1;2cq"), ElementsAre(letter('q')));  // a terminal says what it is
  EXPECT_THAT(keys_of(std::string("\x1b[") + std::string(10'000, '1') + "Aq"),
              ElementsAre(special(Key::up), letter('q')));
  EXPECT_THAT(keys_of("\xc3\xa4q"), ElementsAre(letter('q')));
  EXPECT_THAT(keys_of("\x1b[1\x1b[Bq"), ElementsAre(special(Key::down), letter('q')));
}

TEST(Keys, AreTheSameHoweverTheBytesArrive) {
  EXPECT_TRUE(rc::check([] {
    const auto bytes = *rc::gen::container<std::string>(
        rc::gen::weightedOneOf<char>({{2, rc::gen::just('\x1b')},
                                      {2, rc::gen::element('[', 'O', '~', 'A', ';', '5')},
                                      {1, rc::gen::arbitrary<char>()}}));
    KeyReader reader;
    std::vector<KeyPress> in_pieces;
    for (std::size_t at = 0; at < bytes.size();) {
      const auto length = *rc::gen::inRange<std::size_t>(1, 5);
      reader.read(std::string_view(bytes).substr(at, length), in_pieces);
      at += length;
    }
    reader.nothing_followed(in_pieces);
    RC_ASSERT(in_pieces == keys_of(bytes));
    RC_ASSERT(in_pieces.size() <= bytes.size());
  }));
}

}  // namespace
}  // namespace rubato::cli::top
