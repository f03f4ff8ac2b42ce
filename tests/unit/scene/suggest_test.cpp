#include "tribo/scene/suggest.h"

#include <gtest/gtest.h>

#include "tribo/core/params.h"

namespace tribo {
namespace {

TEST(Suggest, EditDistance) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("materail", "material"), 1u);  // a swap counts once
  EXPECT_EQ(edit_distance("Gravity", "gravity"), 0u);
  EXPECT_EQ(edit_distance("ca", "abc"), 3u);  // optimal string alignment: a swapped pair is not edited again
}

TEST(Suggest, NearestWord) {
  const std::vector<std::string> keys{"name", "material", "shape", "at", "youngs_modulus", "dt_min", "dt_max"};
  EXPECT_EQ(nearest_word("materail", keys), "material");
  EXPECT_EQ(nearest_word("materials", keys), "material");
  EXPECT_EQ(nearest_word("youngs", keys), "youngs_modulus");
  EXPECT_EQ(nearest_word("young_modulus", keys), "youngs_modulus");
  EXPECT_EQ(nearest_word("dtmax", keys), "dt_max");
  EXPECT_EQ(nearest_word("it", keys), "at");
  EXPECT_EQ(nearest_word("banana", keys), "");
  EXPECT_EQ(nearest_word("", keys), "");
  EXPECT_EQ(nearest_word(std::string(1000000, 'x'), keys), "");
  EXPECT_EQ(did_you_mean("nmae", keys), "; did you mean \"name\"?");
  EXPECT_EQ(did_you_mean("banana", keys), "");
}

TEST(Suggest, Lists) {
  EXPECT_EQ(quoted_list({"a", "b"}), "\"a\", \"b\"");
  EXPECT_EQ(one_of_text({"a", "b"}), "one of \"a\", \"b\"");
  EXPECT_EQ(one_of_text({"a"}), "\"a\"");
}

TEST(RangeText, SaysWhatIsAllowed) {
  EXPECT_EQ(anything().text(), "a number");
  EXPECT_EQ(above(0).text(), "a number > 0");
  EXPECT_EQ(at_least(0.5).text("a whole number"), "a whole number >= 0.5");
  EXPECT_EQ(between(-1, 0.5).text(), "a number in (-1, 0.5)");
  EXPECT_EQ(within(0, 1e-9).text(), "a number in [0, 1e-09]");
  EXPECT_EQ(within(1, 1).text(), "the number 1");
  EXPECT_EQ((Range{.high = 3}).text(), "a number < 3");
}

}  // namespace
}  // namespace tribo
