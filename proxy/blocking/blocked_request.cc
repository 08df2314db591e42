#include "proxy/blocking/blocked_request.h"

#include <algorithm>
#include <utility>

#include "protocol/command_keys.h"
#include "protocol/command_writer.h"
#include "protocol/reply_cursor.h"
#include "proxy/blocking/blocking_command.h"
#include "proxy/buffer/output_queue.h"
#include "proxy/client/client_session.h"
#include "proxy/route/request_table.h"

namespace ringway::proxy {
namespace {

constexpr std::string_view kUnblocked = "-UNBLOCKED";
constexpr std::string_view kNoStream = "0-0";

// Of XINFO STREAM's answer.
std::string LastIdOf(std::string_view reply) {
  protocol::ReplyCursor cursor(reply);
  std::string_view name;
  std::string_view value;
  while (cursor.Next(&name) && cursor.Next(&value)) {
    if (protocol::BulkOf(name) == "last-generated-id") return std::string(*protocol::BulkOf(value));
  }
  return std::string(kNoStream);
}

}  // namespace

void BlockedRequest::Begin(OwnConnection connection, std::string_view frame) {
  connection_ = std::move(connection);
  releasing_ = unsent_ = asked_ends_ = woken_ = wake_wanted_ = false;
  connection_->set_patient(true);
  ++request_.parts_pending;
  connection_->Send(&request_, kCommand, frame, nullptr);
}

void BlockedRequest::BeginHotWrite(const std::shared_ptr<HotKey>& key) {
  if (std::find(written_.begin(), written_.end(), key) != written_.end()) return;
  key->BeginWrite();
  written_.push_back(key);
}

void BlockedRequest::LeaveServer() {
  if (releasing_ || !connection_) return;
  releasing_ = true;
  unsent_ = !connection_->ready();
  if (unsent_) {
    connection_.End();
  } else {
    Wake();
  }
}

void BlockedRequest::Unblock(bool error) {
  wake_as_error_ = error;
  unblocked_ = true;
  Wake();
}

void BlockedRequest::Wake() {
  wake_wanted_ = true;
  if (connection_->client_id() == 0) return;
  woken_ = true;
  home_.Wake(connection_, wake_as_error_ || releasing_ || abandoned_);
}

void BlockedRequest::WakeAgain() {
  if (connection_ && wake_wanted_) Wake();
}

// Held by one part meanwhile, so that it outlives its client.
void BlockedRequest::OnKeyPulled(Request&, const PullOutcome& outcome) {
  if (outcome.kind != PullOutcome::Kind::kPulled) problem_ = outcome.error;
  if (--missing_ > 0) return;
  if (abandoned_) {
    reply_ = Slice{};
    home_.table().EndPart(&request_);
  } else if (!problem_.empty()) {
    Fail(std::exchange(problem_, ""));
  } else {
    home_.BeginAgain(*this);
  }
}

void BlockedRequest::Fail(std::string_view error) {
  reply_ = home_.table().Copy("-" + std::string(error) + "\r\n");
  releasing_ = false;
  home_.table().EndPart(&request_);
}

void BlockedRequest::OnPart(Request&, uint32_t part, const Slice& reply) {
  if (part == kCommand) {
    reply_ = reply;
    return;
  }
  stream_ids_[part - kFirstStream] = LastIdOf(reply.view());
}

bool BlockedRequest::OnAllParts(Request& request) {
  const bool gone =
      abandoned_ || (!releasing_ && request.client != nullptr && request.client->host().PeerHasGone());
  if (gone) {
    if (const std::string frame = PutBackCommand(*command_.row, command_.view(), reply_.view());
        !frame.empty()) {
      home_.PutBack(command_.db, frame);
    }
  } else if (releasing_ && !unblocked_ && (unsent_ || reply_.view().starts_with(kUnblocked))) {
    if (AskStreamEnds()) return false;
    GiveConnectionBack();
    // Held until it begins again.
    ++request.parts_pending;
    home_.OnReleased(*this);
    return false;
  }
  GiveConnectionBack();
  const bool in_doubt = reply_.view().starts_with("-SHARD");
  for (const auto& key : std::exchange(written_, {})) home_.EndHotWrite(key, in_doubt);
  request.failed = protocol::IsError(reply_.view());
  if (request.failed) home_.table().stats().NoteError(reply_.view());
  if (request.client != nullptr) {
    request.client->state().modes &= static_cast<uint8_t>(~SessionState::kBlocked);
  }
  home_.OnEnded(*this);
  return true;
}

// What comes next after the place it waited at: nothing is written until its keys have moved.
bool BlockedRequest::AskStreamEnds() {
  if (unsent_ || std::exchange(asked_ends_, true)) return false;
  const std::vector<size_t> streams = StreamsReadFromTheEnd(*command_.row, command_.view());
  if (streams.empty() || !stream_ids_.empty()) return false;
  protocol::KeyList keys;
  protocol::FindKeys(*command_.row, command_.view(), &keys);
  stream_ids_.resize(keys.size());
  for (const size_t i : streams) {
    std::string frame;
    protocol::AppendCommand(frame, {"XINFO", "STREAM", command_.view()[keys[i]]});
    ++request_.parts_pending;
    connection_->Send(&request_, kFirstStream + static_cast<uint32_t>(i), frame, nullptr);
  }
  return true;
}

void BlockedRequest::GiveConnectionBack() {
  if (woken_) {
    connection_.End();
  } else {
    connection_.GiveBack();
  }
}

void BlockedRequest::Finish(Request&, OutputQueue& out) { out.Append(reply_); }

void BlockedRequest::OnAbandoned() {
  abandoned_ = true;
  if (missing_ > 0) return;
  if (!connection_) {
    // Between two servers: nobody holds anything for it.
    for (const auto& key : std::exchange(written_, {})) home_.EndHotWrite(key, false);
    home_.OnEnded(*this);
    request_.parts_pending = 0;
    return;
  }
  if (connection_->client_id() == 0) {
    connection_.End();
  } else if (!releasing_) {
    Wake();
  }
}

}  // namespace ringway::proxy
