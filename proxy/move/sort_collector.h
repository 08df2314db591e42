#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/move/pull_collector.h"
#include "proxy/route/request.h"

namespace ringway::proxy {

// SORT with BY and GET patterns reads keys whose names hold the sorted elements, so these must be pulled as
// well. Asks for the elements at the new owner, where the sorted key is by now, and then for the keys.
// An element that somebody adds in between is sorted as if its keys were not there.
// Thread: one worker. Owns: the command.
class SortCollector final : public ReplyCollector {
 public:
  class Router {
   public:
    // Sends the command when these keys are at their new owner too. `request` is held by one part.
    virtual void ContinueSort(Request& request, WaitingCommand command,
                              const std::vector<std::string>& keys) = 0;

   protected:
    ~Router() = default;
  };
  SortCollector(Router& router, WaitingCommand command);

  // The command that gives the elements.
  std::string QuestionFrame() const;

  void OnPart(Request&, uint32_t, const Slice& reply) override { reply_ = reply; }
  bool OnAllParts(Request& request) override;
  void Finish(Request& request, OutputQueue& out) override;

 private:
  Router& router_;
  WaitingCommand command_;
  Slice reply_;
};

// The key that a pattern of SORT means for an element: the first '*' is the element, and a hash's field
// behind
// "->" is none of the key.
std::string SortPatternKey(std::string_view pattern, std::string_view element);

}  // namespace ringway::proxy
