#include "meter/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rubato::meter {
namespace {

using ::testing::HasSubstr;

const MeterTable kTable{.name = "rack",
                        .values = {{"kind", "snmp"},
                                   {"host", "pdu"},
                                   {"scale", "0.1"},
                                   {"outlet", "7"},
                                   {"tls", "yes"},
                                   {"community", "private-word"},
                                   {"scope", "node"}},
                        .file = "/etc/rubato/meters.toml"};

TEST(Keys, GivesTypedValuesAndDefaults) {
  const Keys keys(kTable);
  EXPECT_EQ(keys.text("host").value(), "pdu");
  EXPECT_EQ(keys.text("user", "public"), "public");
  EXPECT_EQ(keys.number("scale").value(), 0.1);
  EXPECT_EQ(keys.number_or("offset", 2).value(), 2);
  EXPECT_EQ(keys.integer("outlet", 1, 24).value(), 7);
  EXPECT_EQ(keys.flag_or("quiet", true).value(), true);
  EXPECT_EQ(keys.scope_or("scope", Scope::rail).value(), Scope::node);
  EXPECT_EQ(keys.one_of("version", {"2c", "3"}, "2c").value(), "2c");
}

TEST(Keys, AnErrorNamesFileTableKeyAndBothValues) {
  const Keys keys(kTable);
  EXPECT_EQ(keys.integer("outlet", 8, 24).error().what,
            "/etc/rubato/meters.toml, [rack], outlet: found '7', needed a whole number from 8 to 24");
  EXPECT_THAT(keys.text("oid").error().what, HasSubstr("oid: found nothing"));
  EXPECT_THAT(keys.flag_or("tls", false).error().what, HasSubstr("needed true or false"));
  EXPECT_THAT(keys.number("host").error().what, HasSubstr("found 'pdu', needed a number"));
  EXPECT_THAT(keys.one_of("host", {"a", "b"}, "a").error().what, HasSubstr("one of a, b"));
  EXPECT_FALSE(keys.scope_or("host", Scope::rail));
}

TEST(Keys, ASecretIsNeverShown) {
  const Error error = Keys(kTable).wrong("community", "another");
  EXPECT_THAT(error.what, ::testing::Not(HasSubstr("private-word")));
}

TEST(Keys, AnUnknownKeyNamesTheKnownOnes) {
  const auto status = Keys(kTable).only({"host", "scale", "outlet", "community", "scope"});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().what, HasSubstr("no key 'tls'"));
  EXPECT_EQ(status.error().hint, "known keys: kind, host, scale, outlet, community, scope");
  EXPECT_TRUE(Keys(kTable).only({"host", "scale", "outlet", "community", "scope", "tls"}));
}

TEST(Keys, ATableIsFoundByNameAndMustBeOfTheKind) {
  Surroundings around;
  around.tables = {kTable};
  EXPECT_EQ(table_for("snmp", "rack", around).value()->name, "rack");
  EXPECT_EQ(tables_of("snmp", around).size(), 1U);
  EXPECT_TRUE(tables_of("mqtt", around).empty());
  EXPECT_THAT(table_for("snmp", "other", around).error().what, HasSubstr("there are: rack"));
  EXPECT_THAT(table_for("mqtt", "rack", around).error().what, HasSubstr("found 'snmp', needed 'mqtt'"));
}

}  // namespace
}  // namespace rubato::meter
