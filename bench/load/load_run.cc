#include "bench/load/load_run.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/load/verified_requests.h"

namespace ringway::bench {
namespace {

constexpr std::size_t kReadBuffer = 256 * 1024;
constexpr int kTickMs = 10;
constexpr std::size_t kEventsPerTurn = 512;

uint64_t NowNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

double OwnCpuSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double Seconds(uint64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

}  // namespace

LoadRun::LoadRun(const LoadOptions& options) : options_(options), buffer_(kReadBuffer) {}

LoadRun::~LoadRun() {
  clients_.clear();
  if (epoll_ >= 0) close(epoll_);
}

bool LoadRun::Prepare(std::string* error) {
  address_.sin_family = AF_INET;
  address_.sin_port = htons(options_.port);
  if (inet_pton(AF_INET, options_.host.c_str(), &address_.sin_addr) != 1) {
    *error = "not an IPv4 address: " + options_.host;
    return false;
  }
  if (options_.watch_pid != 0 && !ReadProcessUsage(options_.watch_pid)) {
    *error = "no process " + std::to_string(options_.watch_pid);
    return false;
  }
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) {
    *error = std::string("epoll_create1: ") + std::strerror(errno);
    return false;
  }
  if (!options_.verify) prepared_ = std::make_unique<PreparedRequests>(options_);
  const std::string run = std::to_string(getpid()) + "-" + std::to_string(NowNs());
  for (std::size_t i = 0; i < options_.clients; ++i) {
    std::unique_ptr<Conversation> conversation;
    if (options_.verify) {
      conversation = std::make_unique<VerifiedConversation>(options_, run, i, &result_.tally);
    } else {
      conversation = std::make_unique<PreparedConversation>(prepared_.get(), &result_.tally);
    }
    clients_.push_back(std::make_unique<LoadClient>(epoll_, reinterpret_cast<const sockaddr*>(&address_),
                                                    sizeof address_, options_.pipeline,
                                                    std::move(conversation)));
    to_connect_.push_back(clients_.back().get());
  }
  return true;
}

LoadResult LoadRun::Run() {
  now_ns_ = phase_start_ns_ = last_reply_ns_ = NowNs();
  if (options_.warmup == 0) BeginMeasuring();
  while (phase_ != Phase::kDone) Turn();
  return std::move(result_);
}

void LoadRun::Turn() {
  if (!to_retry_.empty() && now_ns_ >= retry_at_ns_) {
    to_connect_.insert(to_connect_.end(), to_retry_.begin(), to_retry_.end());
    to_retry_.clear();
  }
  for (LoadClient* client : std::exchange(to_connect_, {})) StartClient(client);
  std::array<epoll_event, kEventsPerTurn> events;
  const int ready = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), kTickMs);
  now_ns_ = NowNs();
  for (int i = 0; i < ready; ++i) {
    Serve(static_cast<LoadClient*>(events[static_cast<std::size_t>(i)].data.ptr),
          events[static_cast<std::size_t>(i)].events);
  }
  AdvancePhase();
}

// Each connection of connect mode leaves a port in TIME_WAIT for a minute. Calling from a thousand
// loopback addresses in turn keeps one from running out of ports, and changes nothing for the target.
uint32_t LoadRun::SourceAddress() {
  constexpr uint32_t kLoopback = 0x7f000000;
  const bool local = (ntohl(address_.sin_addr.s_addr) & 0xff000000) == kLoopback;
  if (options_.command != LoadCommand::kConnect || !local) return 0;
  return kLoopback + 0x10000 + static_cast<uint32_t>(connects_++ % 1000) + 1;
}

void LoadRun::StartClient(LoadClient* client) {
  if (!client->Connect(SourceAddress(), NowNs())) return Lose(client);
  if (client->state() == LoadClient::State::kIdle) Next(client);
}

void LoadRun::Serve(LoadClient* client, uint32_t events) {
  if (client->state() == LoadClient::State::kClosed) return;
  if (events & (EPOLLOUT | EPOLLERR)) {
    const bool connecting = client->state() == LoadClient::State::kConnecting;
    if (!client->OnWritable()) return Lose(client);
    if (connecting && client->state() == LoadClient::State::kIdle) Next(client);
  }
  if (!(events & (EPOLLIN | EPOLLHUP)) || client->state() == LoadClient::State::kClosed) return;
  uint64_t replies = 0;
  const bool alive = client->OnReadable(buffer_.data(), buffer_.size(), &replies);
  if (replies > 0) CountReplies(*client, replies);
  if (!alive) return Lose(client);
  if (replies == 0 || client->state() != LoadClient::State::kIdle) return;
  if (options_.command == LoadCommand::kConnect) {
    client->Close();
    if (MayIssue()) to_connect_.push_back(client);
  } else {
    Next(client);
  }
}

void LoadRun::CountReplies(const LoadClient& client, uint64_t replies) {
  now_ns_ = NowNs();
  last_reply_ns_ = now_ns_;
  if (phase_ == Phase::kMeasuring) result_.latency.Record(now_ns_ - client.batch_start_ns(), replies);
}

bool LoadRun::MayIssue() {
  return phase_ != Phase::kDone &&
         (phase_ == Phase::kWarmup || options_.requests == 0 || issued_ < options_.requests);
}

void LoadRun::Next(LoadClient* client) {
  if (!MayIssue()) return;
  if (phase_ == Phase::kMeasuring) issued_ += options_.pipeline;
  const bool timed_from_connect = options_.command == LoadCommand::kConnect;
  if (!client->SendBatch(timed_from_connect ? client->connect_start_ns() : now_ns_)) Lose(client);
}

void LoadRun::Lose(LoadClient* client) {
  ++result_.tally.disconnects;
  result_.tally.unanswered += client->unanswered();
  if (result_.tally.first_error.empty()) {
    result_.tally.first_error = std::string("connection: ") + std::strerror(errno);
  }
  client->Close();
  if (to_retry_.empty()) retry_at_ns_ = NowNs() + kTickMs * uint64_t{1000000};
  to_retry_.push_back(client);
}

bool LoadRun::AllIdle() const {
  for (const auto& client : clients_) {
    if (client->state() == LoadClient::State::kWaiting) return false;
  }
  return true;
}

void LoadRun::AdvancePhase() {
  const double in_phase = Seconds(now_ns_ - phase_start_ns_);
  if (Seconds(now_ns_ - last_reply_ns_) > options_.stall) {
    result_.stalled = true;
    if (phase_ == Phase::kWarmup) BeginMeasuring();
    EndMeasuring();
  } else if (phase_ == Phase::kWarmup) {
    if (in_phase >= options_.warmup) BeginMeasuring();
  } else if (options_.requests > 0) {
    if (!MayIssue() && AllIdle()) EndMeasuring();
  } else if (in_phase >= options_.seconds) {
    EndMeasuring();
  }
}

void LoadRun::BeginMeasuring() {
  phase_ = Phase::kMeasuring;
  result_.tally.requests = 0;
  result_.latency.Clear();
  if (options_.watch_pid != 0) watched_start_ = ReadProcessUsage(options_.watch_pid);
  own_cpu_start_ = OwnCpuSeconds();
  phase_start_ns_ = NowNs();
}

void LoadRun::EndMeasuring() {
  phase_ = Phase::kDone;
  result_.seconds = Seconds(NowNs() - phase_start_ns_);
  result_.own_cpu_seconds = OwnCpuSeconds() - own_cpu_start_;
  if (!watched_start_) return;
  const std::optional<ProcessUsage> end = ReadProcessUsage(options_.watch_pid);
  if (!end) return;
  result_.watched = ProcessUsage{end->cpu_ns - watched_start_->cpu_ns,
                                 end->voluntary_switches - watched_start_->voluntary_switches,
                                 end->involuntary_switches - watched_start_->involuntary_switches};
}

}  // namespace ringway::bench
