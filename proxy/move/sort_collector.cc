#include "proxy/move/sort_collector.h"

#include <utility>

#include "protocol/command_keys.h"
#include "protocol/command_writer.h"
#include "protocol/reply_cursor.h"
#include "proxy/buffer/output_queue.h"
#include "proxy/client/client_session.h"

namespace ringway::proxy {

SortCollector::SortCollector(Router& router, WaitingCommand command)
    : router_(router), command_(std::move(command)) {}

std::string SortCollector::QuestionFrame() const {
  std::string frame;
  protocol::AppendCommand(frame, {"SORT", command_.view()[1], "BY", "nosort"});
  return frame;
}

bool SortCollector::OnAllParts(Request& request) {
  if (request.client != nullptr) request.client->EndPull(true);
  protocol::KeyList patterns;
  const protocol::RequestView view = command_.view();
  protocol::FindSortPatterns(view, &patterns);
  std::vector<std::string> keys;
  // An error has no elements: the command itself will say what is wrong.
  protocol::ReplyCursor cursor(reply_.view());
  std::string_view element;
  while (cursor.Next(&element)) {
    const auto text = protocol::BulkOf(element);
    if (!text.has_value()) continue;
    for (const uint32_t index : patterns) keys.push_back(SortPatternKey(view[index], *text));
  }
  const CollectorPtr self = std::move(request.collector);
  router_.ContinueSort(request, std::move(command_), keys);
  return false;
}

void SortCollector::Finish(Request&, OutputQueue& out) { out.Append(reply_); }

std::string SortPatternKey(std::string_view pattern, std::string_view element) {
  const size_t star = pattern.find('*');
  // Redis takes "->" for a field's only behind the star, and only if something follows.
  const size_t arrow = pattern.find("->", star + 1);
  const bool has_field = arrow != std::string_view::npos && arrow + 2 < pattern.size();
  const std::string_view tail = pattern.substr(star + 1, (has_field ? arrow : pattern.size()) - star - 1);
  std::string key(pattern.substr(0, star));
  return key.append(element).append(tail);
}

}  // namespace ringway::proxy
