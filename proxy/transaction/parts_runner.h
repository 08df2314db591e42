#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/reply_scanner.h"
#include "proxy/client/client_session.h"
#include "proxy/route/request.h"
#include "proxy/transaction/transaction.h"

namespace ringway::proxy {

// Executes a transaction of which some commands are not for the shard of its keys: those that are, where they
// stand together, as transactions of their own, the others one by one, all in their order, and puts the
// replies into one. It does so as a client: a session within the client's own, which has its state for as
// long as it takes. While keys are watched, what goes to their shard goes first, and if that comes to nothing
// so does the rest. Thread: one worker. Owns: the inner session, the replies.
class PartsRunner final : public ReplyCollector, private ClientHost {
 public:
  // Takes over what `transaction` holds. `request`: of EXEC, of `outer`.
  PartsRunner(ClientSession& outer, Request& request, Transaction& transaction);
  ~PartsRunner() override;

  // The request has this collector, and is held by one part.
  void Start();

  void OnPart(Request&, uint32_t, const Slice&) override {}
  void Finish(Request& request, OutputQueue& out) override;
  void OnAbandoned() override;

 private:
  // Commands that are sent together, and where their replies stand among those of the transaction.
  struct Step {
    bool batch;
    std::string frames;
    std::vector<size_t> places;
  };

  void Flush() override;
  void CloseSoon() override;
  void Resume() override;
  void PlanSteps(const Transaction& transaction);
  void SendNext();
  void Feed();
  // Takes what has been answered; false: the last step has ended.
  bool TakeReplies();
  void TakeReply(std::string_view reply);
  void TakeBatchReply(std::string_view reply);
  void End();

  ClientSession* outer_;
  Request* request_;
  std::vector<Step> steps_;
  size_t step_ = 0;
  size_t replies_left_ = 0;  // of the step
  std::string input_;        // of the inner session, not yet taken
  std::string received_;
  protocol::ReplyScanner scanner_;
  size_t scanned_ = 0;
  std::vector<std::string> results_;
  std::string whole_;  // in place of the array: nil, or an error
  bool ended_ = false;
  std::unique_ptr<ClientSession> inner_;
};

}  // namespace ringway::proxy
