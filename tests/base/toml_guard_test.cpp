// What toml++ 3.3 cannot read safely must not reach it, and what people write in their files must.
#include "base/toml_guard.h"

#include <gtest/gtest.h>

namespace rubato {
namespace {

std::string fault(std::string_view text) {
  const auto found = find_toml_fault(text);
  return found ? found->what : std::string();
}

TEST(TomlGuard, LetsThroughWhatPeopleWrite) {
  for (const char* text :
       {"[rack]\nkind = \"snmp\"\n", "name = 'Zürich' # Höhe\n", "[\"Zürich\".b]\n", "[a.'Zürich']\n",
        "[[ 'Zürich' ]]\r\n", "a.\"Zürich\" = 1\n", "a = [1, 'Zürich', [\"Höhe\"]]\n",
        "a = [\n  'Zürich',\n  \"Höhe\"\n]\nb = 'ß'\n", "a = \"quoted \\\"ß\\\" within\"\n",
        "a = { b = 'ß', 'ö'.d = [{ e = \"ü\" }, 'ä'] }\n", "\xef\xbb\xbf[rack]\n", ""})
    EXPECT_EQ(fault(text), "") << text;
}

TEST(TomlGuard, NamesTheLine) {
  const auto found = find_toml_fault("a = 1\n\nb = é\n");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->line, 3U);
  EXPECT_EQ(found->what, "a character beyond ASCII outside quotes");
}

TEST(TomlGuard, RefusesControlCharactersAndTextsOverSeveralLines) {
  EXPECT_EQ(fault("a = \"\x01\"\n"), "a control character");
  EXPECT_EQ(fault("a = \"\\\x01\"\n"), "a control character");
  EXPECT_EQ(fault("a\x7f = 1\n"), "a control character");
  EXPECT_EQ(fault("a = \"\"\"\nb\"\"\"\n"), "a text over several lines");
  EXPECT_EQ(fault("a = 'b\n"), "a quote that is not closed");
  EXPECT_EQ(fault("a = \"b\\\"\n"), "a quote that is not closed");
}

// toml++ reads on through such a quote as through any other character of a number or a word: found by
// fuzzing.
TEST(TomlGuard, RefusesQuotesBeyondAsciiThatBelongToAWord) {
  for (const char* text :
       {"[rack]\nkind =+\"snmpHHH\xef\xbb\xbcHH&HHnode\"\n", "a = 1\"ß\"\n", "a = +=\"ß\"\n", "a = 1.'ß'\n",
        "a = [1[\"ß\"]]\n", "a = [1='ß']\n", "a = [\n1='ß'\n]\n", "a = \"b\"\"ß\"\n", "a = { b = +='ß' }\n",
        "a = [1{b='ß'}]\n", "a = { b = 1{c='ß'} }\n"})
    EXPECT_EQ(fault(text), "a character beyond ASCII in quotes that begin no key and no value") << text;
}

}  // namespace
}  // namespace rubato
