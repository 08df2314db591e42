#include "proxy/client/errand.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ringway::proxy {

Errand::Errand(SessionEnvironment& environment, uint32_t db, std::string frame)
    : environment_(environment), session_(environment, *this), frame_(std::move(frame)) {
  session_.state().authenticated = true;
  session_.state().db = db;
}

Errand::~Errand() { environment_.dirty_clients.Remove(this); }

void Errand::Run() { Feed(); }

void Errand::Feed() {
  while (!frame_.empty() && session_.WantsInput()) {
    const ClientSession::ReadBuffer buffer = session_.PrepareRead();
    const size_t count = std::min(buffer.size, frame_.size());
    std::memcpy(buffer.data, frame_.data(), count);
    frame_.erase(0, count);
    session_.OnBytesRead(count);
  }
}

void Errand::Flush() {
  session_.output().Clear();
  session_.OnOutputTaken();
  done_ = done_ || (frame_.empty() && session_.pending() == 0 && !session_.stalled());
}

void Errand::Resume() {
  session_.Resume();
  Feed();
}

}  // namespace ringway::proxy
