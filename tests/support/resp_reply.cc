#include "tests/support/resp_reply.h"

#include <charconv>
#include <sstream>

namespace ringway::test {

namespace {

constexpr std::string_view kEnd = "\r\n";
constexpr std::string_view kScalars = "+-:_#,(";
constexpr std::string_view kBulks = "$=!";
constexpr std::string_view kAggregates = "*~>%|";

enum class Step { kDone, kNeedMore, kBroken };

bool ToInteger(std::string_view text, int64_t* value) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

// Reads one reply off the front of `*rest`. `reply` may be null: then nothing is stored.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  size_t Remaining() const { return rest_.size(); }

  Step Read(Reply* reply) {
    std::string_view line;
    char type = 0;
    if (const Step step = ReadLine(&type, &line); step != Step::kDone) return step;
    reply->type = type;
    if (kScalars.find(type) != std::string_view::npos) return ReadScalar(line, reply);
    int64_t length = 0;
    if (!ToInteger(line, &length) || length < -1) return Step::kBroken;
    if (length == -1) {
      reply->null = true;
      return Step::kDone;
    }
    if (kBulks.find(type) != std::string_view::npos) return ReadBulk(static_cast<size_t>(length), reply);
    return ReadAggregate(type, length, reply);
  }

 private:
  Step ReadLine(char* type, std::string_view* line) {
    if (rest_.empty()) return Step::kNeedMore;
    *type = rest_.front();
    for (const std::string_view known : {kScalars, kBulks, kAggregates}) {
      if (known.find(*type) == std::string_view::npos) continue;
      const size_t end = rest_.find(kEnd);
      if (end == std::string_view::npos) return Step::kNeedMore;
      *line = rest_.substr(1, end - 1);
      rest_.remove_prefix(end + kEnd.size());
      return Step::kDone;
    }
    return Step::kBroken;
  }

  static Step ReadScalar(std::string_view line, Reply* reply) {
    reply->text = line;
    reply->null = reply->type == '_';
    if (reply->type == ':' && !ToInteger(line, &reply->integer)) return Step::kBroken;
    return Step::kDone;
  }

  Step ReadBulk(size_t length, Reply* reply) {
    if (rest_.size() < length + kEnd.size()) return Step::kNeedMore;
    if (rest_.substr(length, kEnd.size()) != kEnd) return Step::kBroken;
    reply->text = rest_.substr(0, length);
    rest_.remove_prefix(length + kEnd.size());
    return Step::kDone;
  }

  Step ReadAggregate(char type, int64_t length, Reply* reply) {
    const int64_t count = type == '%' || type == '|' ? 2 * length : length;
    for (int64_t i = 0; i < count; ++i) {
      Reply element;
      if (const Step step = Read(&element); step != Step::kDone) return step;
      reply->elements.push_back(std::move(element));
    }
    if (type != '|') return Step::kDone;
    *reply = Reply();
    return Read(reply);
  }

  std::string_view rest_;
};

constexpr size_t kPrintedBytes = 400;

void PrintElements(std::ostream& out, const Reply& reply) {
  const bool map = reply.type == '%';
  if (reply.type != '*' && !map) out << reply.type;
  out << (map ? '{' : '[');
  for (size_t i = 0; i < reply.elements.size(); ++i) {
    if (i > 0) out << (map && i % 2 == 1 ? ": " : ", ");
    out << reply.elements[i];
  }
  out << (map ? '}' : ']');
}

}  // namespace

const Reply* Reply::Find(std::string_view key) const {
  for (size_t i = 0; i + 1 < elements.size(); i += 2) {
    if (elements[i].text == key) return &elements[i + 1];
  }
  return nullptr;
}

std::vector<std::string> Reply::Texts() const {
  std::vector<std::string> texts;
  for (const Reply& element : elements) texts.push_back(element.null ? "(nil)" : element.text);
  return texts;
}

std::ostream& operator<<(std::ostream& out, const Reply& reply) {
  if (reply.type == 0) {
    out << "(no reply: " << reply.text << ")";
  } else if (reply.null) {
    out << (reply.type == '*' ? "nil*" : reply.type == '$' ? "nil" : "_");
  } else if (reply.IsArray()) {
    PrintElements(out, reply);
  } else if (reply.type == '$') {
    out << '"' << reply.text.substr(0, kPrintedBytes) << (reply.text.size() > kPrintedBytes ? "..." : "")
        << '"';
  } else if (reply.type == ':') {
    out << reply.integer;
  } else {
    out << reply.type << reply.text;
  }
  return out;
}

std::string ToText(const Reply& reply) {
  std::ostringstream out;
  out << reply;
  return out.str();
}

std::optional<size_t> ReplyLength(std::string_view bytes) {
  Reader reader(bytes);
  Reply ignored;
  switch (reader.Read(&ignored)) {
    case Step::kDone:
      return bytes.size() - reader.Remaining();
    case Step::kNeedMore:
      return 0;
    case Step::kBroken:
      return std::nullopt;
  }
  return std::nullopt;
}

Reply ParseReply(std::string_view bytes) {
  Reader reader(bytes);
  Reply reply;
  if (reader.Read(&reply) == Step::kDone) return reply;
  Reply none;
  none.text = "incomplete or malformed: " + std::string(bytes.substr(0, 200));
  return none;
}

std::string EncodeCommand(const std::vector<std::string>& arguments) {
  std::string bytes = "*" + std::to_string(arguments.size()) + "\r\n";
  for (const std::string& argument : arguments) {
    bytes += "$" + std::to_string(argument.size()) + "\r\n" + argument + "\r\n";
  }
  return bytes;
}

}  // namespace ringway::test
