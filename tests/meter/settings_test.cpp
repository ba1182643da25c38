#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/text.h"
#include "meter/registry.h"
#include "meter/tree.h"

namespace rubato::meter::testing {
namespace {

using ::testing::HasSubstr;

class MetersToml : public ::testing::Test {
 protected:
  std::filesystem::path write(std::string_view text, mode_t mode = 0600) const {
    const auto file = tree_.write("/meters.toml", text);
    ::chmod(file.c_str(), mode);
    return file;
  }
  Error error_of(std::string_view text, mode_t mode = 0600) const {
    const auto tables = read_meter_tables(write(text, mode));
    EXPECT_FALSE(tables);
    return tables ? Error{} : tables.error();
  }
  Tree tree_;
};

TEST_F(MetersToml, GivesEveryScalarAsText) {
  const auto tables = read_meter_tables(write(R"([rack]
kind = "snmp"
host = "pdu-3"
outlet = 7
scale = 0.1
tls = true
)"));
  ASSERT_TRUE(tables) << tables.error().what;
  ASSERT_EQ(tables->size(), 1U);
  const MeterTable& rack = tables->front();
  EXPECT_EQ(rack.name, "rack");
  EXPECT_EQ(rack.file, tree_.path("/meters.toml"));
  EXPECT_EQ(rack.values.at("host"), "pdu-3");
  EXPECT_EQ(rack.values.at("outlet"), "7");
  EXPECT_EQ(rack.values.at("scale"), "0.1");
  EXPECT_EQ(rack.values.at("tls"), "true");
}

TEST_F(MetersToml, TakesValuesFromTheEnvironment) {
  ::setenv("RUBATO_TEST_COMMUNITY", "word", 1);
  const auto tables =
      read_meter_tables(write("[rack]\nkind = 'snmp'\ncommunity = 'env:RUBATO_TEST_COMMUNITY'\n", 0644));
  ASSERT_TRUE(tables) << tables.error().what << " (no secret is in the file, so others may read it)";
  EXPECT_EQ(tables->front().values.at("community"), "word");
  ::unsetenv("RUBATO_TEST_COMMUNITY");
  EXPECT_THAT(error_of("[rack]\nkind = 'snmp'\ncommunity = 'env:RUBATO_TEST_COMMUNITY'\n").what,
              HasSubstr("'RUBATO_TEST_COMMUNITY' is not set"));
}

TEST_F(MetersToml, AFileWithASecretThatOthersMayReadIsRefused) {
  for (const char* key : {"community", "auth_password", "api_token", "secret"}) {
    const Error error = error_of(cat("[rack]\nkind = 'snmp'\n", key, " = 'word'\n"), 0644);
    EXPECT_EQ(error.code, ErrorCode::no_permission);
    EXPECT_THAT(error.what, HasSubstr(key));
    EXPECT_THAT(error.what, ::testing::Not(HasSubstr("word'")));
    EXPECT_THAT(error.hint, HasSubstr("chmod 600"));
  }
  EXPECT_TRUE(read_meter_tables(write("[rack]\nkind = 'snmp'\ncommunity = 'word'\n", 0600)));
}

TEST_F(MetersToml, SyntaxErrorsNameFileAndLine) {
  const Error error = error_of("[rack]\nkind = \n");
  EXPECT_EQ(error.code, ErrorCode::corrupt);
  EXPECT_THAT(error.what, HasSubstr("meters.toml:2: "));
  // Aborts a program that leaves toml++ 3.3 its assertions.
  EXPECT_EQ(error_of("[ .a]\n").code, ErrorCode::corrupt);
}

TEST_F(MetersToml, WhatTheParserCannotReadSafelyIsRefusedWithItsLine) {
  EXPECT_THAT(error_of("[rack]\nkind = \xc3\xbc\n").what, HasSubstr(":2: found a character beyond ASCII"));
  EXPECT_THAT(error_of("[rack]\nkind = \"\"\"a\nb\"\"\"\n").what, HasSubstr(":2: found a text over several"));
  EXPECT_THAT(error_of("[rack]\nkind = 'sn\x01mp'\n").what, HasSubstr("control character"));
  EXPECT_THAT(error_of("[rack]\nkind = 'snmp\n").what, HasSubstr("not closed"));
  const auto tables = read_meter_tables(
      write("[rack] # B\xc3\xbcro\r\nkind = 'snmp'\r\nlabel = \"B\xc3\xbcro \\\"3\\\"\"\r\n"));
  ASSERT_TRUE(tables) << tables.error().what;
  EXPECT_EQ(tables->front().values.at("label"), "B\xc3\xbcro \"3\"");
}

TEST_F(MetersToml, OnlyScalarsInTablesWithAKnownKind) {
  EXPECT_THAT(error_of("host = 'a'\n").what, HasSubstr(":1: 'host' stands outside any table"));
  EXPECT_THAT(error_of("[rack]\nkind = 'snmp'\noids = [1, 2]\n").what, HasSubstr(":3, [rack], oids"));
  EXPECT_THAT(error_of("[rack.inner]\nkind = 'snmp'\n").what, HasSubstr("[rack], inner"));
  EXPECT_THAT(error_of("[rack]\nhost = 'a'\n").what, HasSubstr("needs a key kind"));
  EXPECT_THAT(error_of("[rack]\nkind = 'zigbee'\n").what, HasSubstr("one of rapl, hwmon"));
}

TEST_F(MetersToml, IsLookedForInTheUsualPlaces) {
  tree_.write("/config/rubato/meters.toml", "[a]\nkind = 'mqtt'\n");
  ::setenv("XDG_CONFIG_HOME", tree_.path("/config").c_str(), 1);
  EXPECT_EQ(read_meter_tables()->front().name, "a");
  const auto named = tree_.write("/named.toml", "[b]\nkind = 'mqtt'\n");
  ::setenv("RUBATO_METERS", named.c_str(), 1);
  EXPECT_EQ(read_meter_tables()->front().name, "b");
  ::setenv("RUBATO_METERS", tree_.path("/none.toml").c_str(), 1);
  EXPECT_FALSE(read_meter_tables()) << "a file that was named must be there";
  ::unsetenv("RUBATO_METERS");
  ::unsetenv("XDG_CONFIG_HOME");
}

}  // namespace
}  // namespace rubato::meter::testing
