#include "proxy/control/copy_sweep.h"

#include <algorithm>

#include "protocol/command_writer.h"
#include "protocol/reply_cursor.h"
#include "proxy/hotkey/bucket_name.h"

namespace ringway::proxy {
namespace {

using protocol::BulkOf;

constexpr std::string_view kScanCount = "1000";

}  // namespace

// Through the server, since nobody may be called back from here.
void CopySweep::Start() {
  client_.Do({"PING"}, [this](const ShardClient::Answer& answer) {
    if (answer.ok()) {
      NextDatabase();
    } else {
      End(false);
    }
  });
}

void CopySweep::NextDatabase() {
  if (next_database_ == keyspace_.size()) {
    End(true);
    return;
  }
  client_.UseDatabase(keyspace_[next_database_++].database);
  Scan("0");
}

void CopySweep::Scan(const std::string& cursor) {
  if (++calls_ > kMaxCalls) {
    End(false);
    return;
  }
  client_.Do({"SCAN", cursor, "COUNT", kScanCount},
             [this](const ShardClient::Answer& answer) { OnKeys(answer); });
}

void CopySweep::OnKeys(const ShardClient::Answer& answer) {
  if (!answer.ok()) {
    End(false);
    return;
  }
  protocol::ReplyCursor reply(answer[0]);
  std::string_view element;
  if (!reply.Next(&element) || !BulkOf(element).has_value()) {
    End(false);
    return;
  }
  const std::string cursor(*BulkOf(element));
  protocol::ReplyCursor keys(reply.Next(&element) ? element : std::string_view());
  std::vector<std::string_view> copies;
  while (keys.Next(&element)) {
    const std::string_view key = BulkOf(element).value_or("");
    if (IsBucketName(key)) {
      copies.push_back(key);
    } else {
      ++result_.others;
    }
  }
  if (result_.others > options_.max_others) {
    End(false);
  } else if (options_.remove && !copies.empty()) {
    Unlink(copies, cursor);
  } else {
    GoOn(cursor);
  }
}

void CopySweep::Unlink(const std::vector<std::string_view>& copies, const std::string& cursor) {
  std::string frame;
  protocol::AppendHeader(frame, 1 + copies.size());
  protocol::AppendArg(frame, "UNLINK");
  for (const std::string_view copy : copies) protocol::AppendArg(frame, copy);
  client_.DoFrame(frame, 1, [this, cursor](const ShardClient::Answer& answer) {
    if (!answer.ok() || !answer.FirstError().empty()) {
      End(false);
      return;
    }
    result_.removed +=
        static_cast<uint64_t>(std::max<int64_t>(protocol::IntegerOf(answer[0]).value_or(0), 0));
    GoOn(cursor);
  });
}

void CopySweep::GoOn(const std::string& cursor) {
  if (cursor == "0") {
    NextDatabase();
  } else {
    Scan(cursor);
  }
}

void CopySweep::End(bool complete) {
  result_.complete = complete;
  const Done done = done_;
  const Result result = result_;
  done(result);
}

}  // namespace ringway::proxy
