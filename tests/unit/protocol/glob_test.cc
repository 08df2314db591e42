#include "protocol/glob.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace ringway::protocol {
namespace {

struct Case {
  std::string_view pattern;
  std::string_view text;
  bool match;
};

TEST(Glob, PatternsMatchAsInRedis) {
  const Case cases[] = {
      {"", "", true},
      {"", "a", false},
      {"a", "", false},
      {"abc", "abc", true},
      {"abc", "abd", false},
      {"abc", "ab", false},
      {"ab", "abc", false},
      {"*", "abc", true},
      {"a*", "a", true},
      {"a*", "abc", true},
      {"*c", "abc", true},
      {"*b", "abc", false},
      {"a*c", "ac", true},
      {"a*c", "abbc", true},
      {"a**c", "abc", true},
      {"***", "a", true},
      {"*a*b*", "xaxb", true},
      {"*a*b*", "xbxa", false},
      {"*aab", "aaaab", true},
      {"*ab*abc", "ababababc", true},
      {"?", "a", true},
      {"?", "ab", false},
      {"??", "ab", true},
      {"a?c", "abc", true},
      {"*?", "a", true},
      {"?*", "a", true},
      {"*??", "a", false},
      {"[abc]", "b", true},
      {"[abc]", "d", false},
      {"[a-c]", "b", true},
      {"[c-a]", "b", true},
      {"[a-c]", "d", false},
      {"[^abc]", "d", true},
      {"[^abc]", "a", false},
      {"h[ae]llo", "hello", true},
      {"*[0-9]", "key7", true},
      {"\\*", "*", true},
      {"\\*", "a", false},
      {"a\\?c", "a?c", true},
      {"a\\?c", "abc", false},
      {"\\a", "a", true},
      {"\\", "\\", true},
      {"a\\", "a\\", true},
      {"[\\]]", "]", true},
      {"[a\\-z]", "-", true},
      {"[a\\-z]", "m", false},
  };
  for (const Case& c : cases)
    EXPECT_EQ(GlobMatch(c.pattern, c.text), c.match) << c.pattern << " : " << c.text;
}

TEST(Glob, OdditiesAreRedisOnes) {
  const Case cases[] = {
      // The empty text matches nothing but the empty pattern.
      {"*", "", false},
      {"**", "", false},
      // A class that is not closed runs to the end.
      {"[abc", "b", true},
      {"[abc", "d", false},
      {"[^abc", "d", true},
      {"[", "a", false},
      {"[^", "a", true},
      {"[a-", "-", true},
      {"[a-", "a", true},
      {"[\\", "\\", true},
      // An empty class matches nothing, an empty negated one anything; ']' may end a range.
      {"[]", "a", false},
      {"[]a", "a", false},
      {"[^]", "a", true},
      {"[a-]", "^", true},
      {"[a-]x", "^", true},
      // A '^' elsewhere, and a '-' first or last.
      {"[a^]", "^", true},
      {"[-a]", "-", true},
      // Bytes of ranges are signed.
      {"[\x7f-\x80]", "a", true},
      {"[\x80-\xff]", "\xc3", true},
      {"[\x80-\xff]", "a", false},
  };
  for (const Case& c : cases)
    EXPECT_EQ(GlobMatch(c.pattern, c.text), c.match) << c.pattern << " : " << c.text;
}

TEST(Glob, CaseIsIgnoredOnlyWhereAsked) {
  EXPECT_FALSE(GlobMatch("MAX*", "maxmemory"));
  EXPECT_TRUE(GlobMatch("MAX*", "maxmemory", GlobCase::kIgnore));
  EXPECT_TRUE(GlobMatch("[A-C]x", "bX", GlobCase::kIgnore));
  EXPECT_TRUE(GlobMatch("[ABC]", "b", GlobCase::kIgnore));
  EXPECT_FALSE(GlobMatch("[\\B]", "b", GlobCase::kIgnore));
  EXPECT_TRUE(GlobMatch("\\B", "b", GlobCase::kIgnore));
  EXPECT_FALSE(GlobMatch("\xc4", "\xe4", GlobCase::kIgnore));
}

// Backtracking into every star would take time exponential in their number: longer than any test may run.
TEST(Glob, PathologicalPatternsAreNotExponential) {
  std::string stars;
  for (int i = 0; i < 200; ++i) stars += "a*";
  EXPECT_FALSE(GlobMatch(stars + "b", std::string(5000, 'a')));
  EXPECT_TRUE(GlobMatch(stars + "b", std::string(5000, 'a') + "b"));
  std::string questions;
  for (int i = 0; i < 200; ++i) questions += "*?";
  EXPECT_FALSE(GlobMatch(questions + "b", std::string(5000, 'a')));
  std::string classes;
  for (int i = 0; i < 200; ++i) classes += "*[a-c]";
  EXPECT_FALSE(GlobMatch(classes + "d", std::string(5000, 'b')));
}

}  // namespace
}  // namespace ringway::protocol
