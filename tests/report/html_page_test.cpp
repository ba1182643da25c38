#include "report/html_page.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace rubato::report {
namespace {

using testing::HasSubstr;
using testing::Not;

class Text final : public Sink {
 public:
  Status write(std::string_view text) override {
    out += text;
    return out.size() > limit ? fail(ErrorCode::io, "the disk is full", {}) : Status();
  }
  std::string out;
  std::size_t limit = 1U << 30U;
};

constexpr std::string_view kAttack = "</script><script>alert(1)</script><!--";

TEST(HtmlPage, HoldsTitleDocumentAndSeriesInOrder) {
  Text to;
  HtmlPage page(to);
  ASSERT_TRUE(page.begin("a <title> & more", R"({"key": "value"})"));
  ASSERT_TRUE(page.series({3, {}, "QUJD"}));
  ASSERT_TRUE(page.end());
  EXPECT_THAT(to.out, HasSubstr("<title>a &lt;title&gt; &amp; more</title>"));
  const std::size_t policy = to.out.find("Content-Security-Policy");
  const std::size_t document = to.out.find(R"(id="rubato-document">{"key": "value"}</script>)");
  const std::size_t series = to.out.find(R"(<script type="text/plain" id="series-3">QUJD</script>)");
  ASSERT_NE(document, std::string::npos);
  ASSERT_NE(series, std::string::npos);
  // The script runs as soon as it is read: behind what it needs at once, before the samples.
  const std::size_t script = to.out.find("<script>");
  EXPECT_LT(policy, document);
  EXPECT_LT(document, script);
  EXPECT_LT(script, series);
  EXPECT_TRUE(to.out.ends_with("</html>\n"));
  EXPECT_THAT(to.out, Not(HasSubstr("<!--rubato:")));
}

TEST(HtmlPage, AnOutlineStandsBeforeTheScript) {
  Text to;
  HtmlPage page(to);
  const PackedSeries outline{7, {}, "QUJD"};
  ASSERT_TRUE(page.begin("title", "{}", &outline));
  const std::size_t place = to.out.find(R"(<script type="text/plain" id="series-7">QUJD</script>)");
  ASSERT_NE(place, std::string::npos);
  EXPECT_LT(place, to.out.find("<script>"));
}

TEST(HtmlPage, NothingInADocumentEndsItsElement) {
  const nlohmann::json document = {{"command", std::string(kAttack)}};
  const std::string inside = json_in_script(document.dump());
  EXPECT_THAT(inside, Not(HasSubstr("<")));
  EXPECT_EQ(nlohmann::json::parse(inside), document);
}

TEST(HtmlPage, TextIsNoMarkup) {
  EXPECT_EQ(html_text(kAttack), "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;!--");
  EXPECT_EQ(html_text("line\nbreak\x01\x7f"), "line?break??");
  EXPECT_EQ(html_text("\xff"), "\xef\xbf\xbd");
  EXPECT_EQ(html_text("größer 日本"), "größer 日本");
}

TEST(HtmlPage, AFailureOfTheFileIsTold) {
  Text to;
  to.limit = 100;
  HtmlPage page(to);
  const Status begun = page.begin("t", "{}");
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().code, ErrorCode::io);
}

}  // namespace
}  // namespace rubato::report
