#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ringway::protocol {

// Where an argument lies: bytes, counted from the first byte of its frame.
struct Arg {
  uint32_t offset;
  uint32_t length;
};

// A complete multibulk frame and where its arguments lie.
// Thread: a value, any. Owns: nothing; valid as long as the frame and the argument table are.
// Limits: the frame is shorter than 4 GiB.
class RequestView {
 public:
  RequestView() = default;
  RequestView(std::string_view frame, std::span<const Arg> args)
      : bytes_(frame.data()),
        args_(args.data()),
        frame_size_(static_cast<uint32_t>(frame.size())),
        count_(static_cast<uint32_t>(args.size())) {}

  // Arguments, the command's name included; 0 for a blank line, `*0` and `*-1`.
  size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }

  // Argument i, which must be below size().
  std::string_view operator[](size_t i) const { return {bytes_ + args_[i].offset, args_[i].length}; }

  // Arguments [i, i + count) as they stand in the frame, lengths and line ends included; i and count at least 1.
  std::string_view Encoded(size_t i, size_t count) const {
    const Arg& before = args_[i - 1];
    const Arg& last = args_[i + count - 1];
    const size_t begin = size_t{before.offset} + before.length + 2;
    return {bytes_ + begin, size_t{last.offset} + last.length + 2 - begin};
  }

  // The bytes as they can be sent to a shard.
  std::string_view frame() const { return {bytes_, frame_size_}; }
  std::span<const Arg> args() const { return {args_, count_}; }

 private:
  const char* bytes_ = nullptr;
  const Arg* args_ = nullptr;
  uint32_t frame_size_ = 0;
  uint32_t count_ = 0;
};

}  // namespace ringway::protocol
