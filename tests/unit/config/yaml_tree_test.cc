#include "config/yaml_tree.h"

#include <gtest/gtest.h>

namespace ringway::config {
namespace {

std::string FirstProblem(std::string_view text) {
  const Result<YamlNode> tree = ParseYamlTree(text, "f");
  return tree.ok() ? "" : tree.problems().front().ToString();
}

TEST(YamlTree, LinesAreThoseAnEditorShows) {
  const Result<YamlNode> tree = ParseYamlTree("# first\na: 1\nb:\n  - x\n  - {c: d,\n     e: f}\n", "f");
  ASSERT_TRUE(tree.ok());
  const YamlNode& root = tree.value();
  ASSERT_EQ(root.items.size(), 4u);
  EXPECT_EQ(root.items[0].line, 2);
  EXPECT_EQ(root.items[2].line, 3);
  const YamlNode& list = root.items[3];
  ASSERT_EQ(list.items.size(), 2u);
  EXPECT_EQ(list.items[0].line, 4);
  EXPECT_EQ(list.items[1].items[2].text, "e");
  EXPECT_EQ(list.items[1].items[2].line, 6);
}

TEST(YamlTree, TextWithoutContentIsNothingRatherThanAMistake) {
  for (const char* text : {"", "\n\n", "# only a comment\n", "---\n", "\xef\xbb\xbf"}) {
    const Result<YamlNode> tree = ParseYamlTree(text, "f");
    ASSERT_TRUE(tree.ok()) << text << tree.problems().front().ToString();
    EXPECT_EQ(tree.value().kind, YamlNode::Kind::kNull) << text;
  }
}

TEST(YamlTree, DepthLimitHoldsOnBothSides) {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(FirstProblem(nested(kMaxYamlDepth)), "");
  EXPECT_EQ(FirstProblem(nested(kMaxYamlDepth + 1)),
            "f:1: not YAML: nested deeper than a configuration goes");
}

TEST(YamlTree, NestingWithoutEndNeitherCrashesNorTakesLong) {
  for (const std::string& unit : std::vector<std::string>{"[", "{", "- ", "{a: ", "? ", "!t ", "[{"}) {
    std::string text;
    while (text.size() < 100'000) text += unit;
    EXPECT_NE(FirstProblem(text), "") << unit;
  }
}

TEST(YamlTree, NodeLimitHoldsOnBothSides) {
  const auto list = [](size_t items) {
    std::string text = "[";
    for (size_t i = 0; i < items; ++i) text += "1,";
    return text + "]";
  };
  EXPECT_EQ(FirstProblem(list(kMaxYamlNodes - 1)), "");
  EXPECT_EQ(FirstProblem(list(kMaxYamlNodes)), "f:1: not YAML: more values than a configuration can need");
}

TEST(YamlTree, AliasBombIsRefusedAtItsFirstAnchor) {
  EXPECT_EQ(FirstProblem("a: &a [x, x]\nb: &b [*a, *a]\n"), "f:1: not YAML: anchors (&name) are not taken");
  EXPECT_EQ(FirstProblem("a: &a\n  b: c\n"), "f:1: not YAML: anchors (&name) are not taken");
  EXPECT_EQ(FirstProblem("a: &a x\n"), "f:1: not YAML: anchors (&name) are not taken");
  EXPECT_EQ(FirstProblem("\na: &a\n").rfind("f:2: ", 0), 0u);
  EXPECT_EQ(FirstProblem("a: *b\n").rfind("f:1: not YAML: ", 0), 0u);
}

TEST(YamlTree, TabsAreReportedInEveryLineThatHasOne) {
  const Result<YamlNode> tree = ParseYamlTree("ring:\n\thash: xxh3\n \tx: 1\n\t\n\t# fine\na: b\tc\n", "f");
  ASSERT_EQ(tree.problems().size(), 2u);
  EXPECT_EQ(tree.problems()[0].ToString(), "f:2: a tab in the indentation; YAML takes blanks only");
  EXPECT_EQ(tree.problems()[1].where, "f:3");
}

TEST(YamlTree, BrokenSyntaxNamesItsLine) {
  EXPECT_EQ(FirstProblem("a: 1\nb: [1, 2\nc: 3\n").rfind("f:", 0), 0u);
  EXPECT_EQ(FirstProblem("a: 1\n b: 2\n").rfind("f:2: not YAML: ", 0), 0u);
  EXPECT_EQ(FirstProblem("a: 1\n---\nb: 2\n"),
            "f:3: text after the end of the configuration; expected a single map of options");
  EXPECT_EQ(FirstProblem(std::string_view("a: 1\nb: \0\n", 10)),
            "f:2: a control character; expected plain text");
  EXPECT_EQ(FirstProblem("a: \x1b[31m\n"), "f:1: a control character; expected plain text");
}

TEST(YamlTree, QuoteThatIsNeverClosedDoesNotSwallowTheRest) {
  for (const std::string_view text : {"a: 1\nb: \"open\n", "a: 1\nb: 'open\nc: 2\n", "a: 1\nb: \"x\\\"\n",
                                      "a: 1\nb: 'x''\n", "\xef\xbb\xbf# a\n'b: 2\n", "a: 1\n\"\n"}) {
    EXPECT_EQ(FirstProblem(text), "f:2: not YAML: this quote is never closed") << text;
  }
  for (const std::string_view text : {"a: \"x\\\"\"\n", "a: 'x'''\n", "a: ''\n", "'a': \"\"", "a: it's\n",
                                      "\xef\xbb\xbf'a': 'b'", "{'a': 'b\n c', \"d\": 'e'}"}) {
    EXPECT_EQ(FirstProblem(text), "") << text;
  }
}

TEST(YamlTree, WindowsLineEndingsChangeNothing) {
  const Result<YamlNode> tree = ParseYamlTree("a: 1\r\nb: 2\r\n", "f");
  ASSERT_TRUE(tree.ok());
  EXPECT_EQ(tree.value().items[1].text, "1");
  EXPECT_EQ(tree.value().items[2].line, 2);
}

}  // namespace
}  // namespace ringway::config
