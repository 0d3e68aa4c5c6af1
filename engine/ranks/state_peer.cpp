#include "engine/ranks/state_peer.h"

#include <algorithm>
#include <cstring>

#include "core/base/start_thread.h"

namespace forebay {
namespace {

constexpr std::size_t kPiece = std::size_t{4} << 20;
constexpr std::chrono::hours kAnyTime(24);

StateBytes bytes_of(StateSource& source, const ReadState& read) {
  const auto& tensors = source.tensors();
  if (read.index >= tensors.size() || read.bytes > kPiece ||
      read.offset > tensors[read.index].bytes() ||
      read.bytes > tensors[read.index].bytes() - read.offset) {
    return {.read = fail(Code::kInvalid, "a range that lies in no tensor"),
            .frames = {},
            .number = read.number};
  }
  auto bytes = std::make_shared<std::vector<std::byte>>(read.bytes);
  StateBytes answer;
  answer.number = read.number;
  answer.read = source.read(read.index, read.offset, *bytes);
  answer.frames = {Frame(bytes, bytes->data(), bytes->size())};
  return answer;
}

}  // namespace

void StatePeer::serve(std::unique_ptr<StateSource> source) {
  asked_.change([](Asked& asked) { asked.over = true; });
  if (server_.joinable()) server_.join();
  asked_.change([](Asked& asked) {
    asked.reads.clear();
    asked.over = asked.lost;
  });
  if (source == nullptr) return;
  server_ = start_thread("reading other ranks' tables",
                         [this, served = std::move(source)] { answer(*served); });
}

Status StatePeer::read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) {
  while (!to.empty()) {
    const auto piece = to.first(std::min(to.size(), kPiece));
    if (auto status = read_piece(index, offset, piece); !status) return status;
    offset += piece.size();
    to = to.subspan(piece.size());
  }
  return {};
}

Status StatePeer::read_piece(std::size_t index, std::uint64_t offset, std::span<std::byte> to) {
  const std::uint64_t number = mail_.change([](Mail& mail) {
    mail.answer.reset();
    return ++mail.asked;
  });
  if (auto status = send_(ReadState{index, offset, to.size(), number}); !status) return status;
  Mail got;
  const bool came = mail_.wait(
      kAnyTime, [](const Mail& mail) { return mail.answer || mail.given_up || !mail.lost.empty(); },
      [&](Mail& mail) {
        got = mail;
        mail.answer.reset();
      });
  if (!came || (!got.answer && got.given_up)) {
    return fail(Code::kTimeout, what_ + " does not give its state");
  }
  if (!got.answer) return fail(Code::kUnavailable, what_ + " was lost: " + got.lost);
  if (!got.answer->read) return std::move(got.answer->read);
  if (got.answer->frames.size() != 1 || got.answer->frames[0].size() != to.size()) {
    return fail(Code::kCorrupt, what_ + " gave other bytes of its state than were asked for");
  }
  std::memcpy(to.data(), got.answer->frames[0].data(), to.size());
  return {};
}

void StatePeer::begin() {
  mail_.change([](Mail& mail) { mail.given_up = false; });
}

void StatePeer::give_up() {
  mail_.change([](Mail& mail) { mail.given_up = true; });
}

void StatePeer::drop() { static_cast<void>(send_(DropState{})); }

void StatePeer::answer(StateSource& source) {
  const auto ready = [](const Asked& asked) { return asked.over || !asked.reads.empty(); };
  for (;;) {
    std::optional<ReadState> next;
    const bool came = asked_.wait(std::chrono::hours(1), ready, [&](Asked& asked) {
      if (asked.over) return;
      next = asked.reads.front();
      asked.reads.pop_front();
    });
    if (!came) continue;
    if (!next) return;
    static_cast<void>(send_(bytes_of(source, *next)));
  }
}

void StatePeer::on(const ReadState& read) {
  asked_.change([&](Asked& asked) { asked.reads.push_back(read); });
}

void StatePeer::on(const DropState&) {
  asked_.change([](Asked& asked) { asked.over = true; });
}

void StatePeer::on(StateBytes bytes) {
  mail_.change([&](Mail& mail) {
    if (bytes.number == mail.asked) mail.answer = std::move(bytes);
  });
}

void StatePeer::lose(const std::string& why) {
  mail_.change([&](Mail& mail) { mail.lost = why.empty() ? "gone" : why; });
  asked_.change([](Asked& asked) { asked.over = asked.lost = true; });
}

}  // namespace forebay
