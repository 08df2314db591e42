#include "config/yaml_tree.h"

#include <algorithm>
#include <sstream>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "config/values.h"

namespace ringway::config {

namespace {

// yaml-cpp counts lines from 0.
int LineOf(const YAML::Mark& mark) { return mark.line + 1; }

// Builds the tree from the parser's events.
//
// Thread: one.
// Owns: the tree until TakeRoot.
// Limits: kMaxYamlDepth and kMaxYamlNodes; beyond them, and at an anchor, it throws YAML::ParserException,
// which is the only way to stop the parser.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::string_view text) : text_(text) {
    for (size_t end = 0; (end = text.find('\n', end)) != std::string_view::npos;)
      line_starts_.push_back(++end);
  }

  YamlNode TakeRoot() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    RefuseAnchor(mark, anchor);
    Add(mark, YamlNode::Kind::kNull);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw YAML::ParserException(mark, "aliases (*name) are not taken; write the value again");
  }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                const std::string& value) override {
    RefuseAnchor(mark, anchor);
    RefuseOpenQuote(mark);
    Add(mark, YamlNode::Kind::kScalar).text = value;
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, anchor, YamlNode::Kind::kSequence);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(mark, anchor, YamlNode::Kind::kMap);
  }
  void OnMapEnd() override { Close(); }

 private:
  static void RefuseAnchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) throw YAML::ParserException(mark, "anchors (&name) are not taken");
  }

  // yaml-cpp 0.7 takes a quote that is never closed, with everything after it, for a value.
  void RefuseOpenQuote(const YAML::Mark& mark) const {
    const auto line = static_cast<size_t>(mark.line);
    if (line >= line_starts_.size()) return;
    size_t at = line_starts_[line] + static_cast<size_t>(mark.column);
    if (at >= text_.size() || (text_[at] != '"' && text_[at] != '\'')) return;
    const char quote = text_[at];
    for (++at; at < text_.size(); ++at) {
      if (quote == '"' && text_[at] == '\\') {
        ++at;
      } else if (text_[at] == quote) {
        if (quote == '"' || at + 1 >= text_.size() || text_[at + 1] != quote) return;
        ++at;  // two of them stand for one
      }
    }
    throw YAML::ParserException(mark, "this quote is never closed");
  }

  // Open collections are moved into their parent when they close, so no pointer into a growing vector is
  // kept.
  YamlNode& Add(const YAML::Mark& mark, YamlNode::Kind kind) {
    if (++nodes_ > kMaxYamlNodes)
      throw YAML::ParserException(mark, "more values than a configuration can need");
    YamlNode node;
    node.kind = kind;
    node.line = LineOf(mark);
    if (open_.empty()) {
      root_ = std::move(node);
      return root_;
    }
    open_.back().items.push_back(std::move(node));
    return open_.back().items.back();
  }

  void Open(const YAML::Mark& mark, YAML::anchor_t anchor, YamlNode::Kind kind) {
    RefuseAnchor(mark, anchor);
    if (open_.size() >= kMaxYamlDepth)
      throw YAML::ParserException(mark, "nested deeper than a configuration goes");
    if (++nodes_ > kMaxYamlNodes)
      throw YAML::ParserException(mark, "more values than a configuration can need");
    YamlNode node;
    node.kind = kind;
    node.line = LineOf(mark);
    open_.push_back(std::move(node));
  }

  void Close() {
    YamlNode node = std::move(open_.back());
    open_.pop_back();
    if (open_.empty()) {
      root_ = std::move(node);
    } else {
      open_.back().items.push_back(std::move(node));
    }
  }

  const std::string_view text_;
  std::vector<size_t> line_starts_ = {0};
  YamlNode root_;
  std::vector<YamlNode> open_;
  size_t nodes_ = 0;
};

std::string Where(std::string_view file_name, int line) {
  return std::string(file_name) + ":" + std::to_string(line);
}

// What yaml-cpp would misread or explain badly, by line.
Problems CheckBytes(std::string_view text, std::string_view file_name) {
  Problems problems;
  int line = 1;
  for (size_t begin = 0; begin < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view row = text.substr(begin, end - begin);
    const size_t content = row.find_first_not_of(" \t\r");
    const bool matters = content != std::string_view::npos && row[content] != '#';
    if (matters && row.substr(0, content).find('\t') != std::string_view::npos) {
      problems.push_back({Where(file_name, line), "a tab in the indentation; YAML takes blanks only"});
    }
    const bool control = std::any_of(row.begin(), row.end(), [](char c) {
      return (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\r') || c == 0x7f;
    });
    if (control) problems.push_back({Where(file_name, line), "a control character; expected plain text"});
    begin = end + 1;
  }
  return problems;
}

}  // namespace

std::string YamlNode::Describe() const {
  switch (kind) {
    case Kind::kNull:
      return "nothing";
    case Kind::kScalar:
      return Quoted(text);
    case Kind::kSequence:
      return "a list";
    case Kind::kMap:
      return "a map";
  }
  return {};
}

Result<YamlNode> ParseYamlTree(std::string_view text, std::string_view file_name) {
  if (Problems problems = CheckBytes(text, file_name); !problems.empty()) {
    return Result<YamlNode>::Failure(std::move(problems));
  }
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::istringstream stream{std::string(text)};
  int line = 1;
  try {
    YAML::Parser parser(stream);
    TreeBuilder builder(text);
    if (!parser.HandleNextDocument(builder)) return YamlNode{};
    TreeBuilder second(text);
    if (parser.HandleNextDocument(second)) {
      line = second.TakeRoot().line;
      return Result<YamlNode>::Failure(
          {{Where(file_name, std::max(line, 1)),
            "text after the end of the configuration; expected a single map of options"}});
    }
    return builder.TakeRoot();
  } catch (const YAML::Exception& error) {
    if (!error.mark.is_null()) line = LineOf(error.mark);
    return Result<YamlNode>::Failure({{Where(file_name, line), "not YAML: " + error.msg}});
  } catch (const std::exception& error) {
    return Result<YamlNode>::Failure(
        {{std::string(file_name), std::string("cannot be read: ") + error.what()}});
  }
}

}  // namespace ringway::config
