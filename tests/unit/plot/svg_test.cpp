#include "tribo/plot/svg.h"

#include <gtest/gtest.h>

#include "xml_check.h"

namespace tribo {
namespace {

TEST(XmlCheck, FindsMistakes) {
  EXPECT_EQ(xml_mistake("<a><b c=\"d>\"/>e</a>"), "");
  for (const char* wrong : {"", "<a>", "<a></b>", "<a></a><b></b>", "<a>&</a>", "<a><</a>", "x<a></a>", "<a b=\"</a>"})
    EXPECT_NE(xml_mistake(wrong), "") << wrong;
}

TEST(Svg, EscapesWhatXmlReservesOrForbids) {
  EXPECT_EQ(xml_escape("a<b> & \"c\" é"), "a&lt;b&gt; &amp; &quot;c&quot; é");
  EXPECT_EQ(xml_escape(std::string("\x01\t\xEF\xBF\xBF", 5)), "\uFFFD \uFFFD");
}

TEST(Svg, DocumentsAreWellFormed) {
  Svg svg(100, 50, "<title> & more");
  svg.rect({0, 0, 10, 10}, svg.hatched("#ff0000", 1));
  svg.frame({0, 0, 10, 10}, {"#000000", 1, "4 2"});
  const std::vector<Point> points = {{0, 0}, {1.26, -0.01}, {2, 3}};
  svg.polyline(points, {});
  svg.polygon(points, "#00ff00", 0.5);
  svg.dot({1, 2}, 3, "#0000ff");
  svg.text({1, 2}, "10⁻³ kg m²/s & <so> on", {});
  svg.text({1, 2}, "²", {16, "#000000", TextStyle::Anchor::end, true, true});
  const std::string text = std::move(svg).finish();
  EXPECT_EQ(xml_mistake(text), "") << text;
  EXPECT_NE(text.find("points=\"0,0 1.3,0 2,3\""), std::string::npos) << text;
  EXPECT_NE(text.find(">−3</tspan>"), std::string::npos) << "superscripts are raised: " << text;
}

TEST(Svg, TextIsCutToFit) {
  EXPECT_EQ(fit_text("short", 16, 200), "short");
  const std::string cut = fit_text(std::string(100, 'x') + "é", 16, 200);
  EXPECT_TRUE(cut.ends_with("…"));
  EXPECT_LE(text_width(cut, 16), 200);
  EXPECT_GT(text_width(cut, 16), 170);
  EXPECT_EQ(fit_text("ééé", 16, 0), "…") << "never half a character";
}

}  // namespace
}  // namespace tribo
