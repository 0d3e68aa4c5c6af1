#include "engine/ranks/remote_state.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "core/runtime/ask.h"

namespace forebay {
namespace {

constexpr std::chrono::hours kAnyTime(24);

}  // namespace

StateServer::~StateServer() {
  source_.reset();
  released_->open();
}

Result<StateBytes> StateServer::on(const ReadState& read, Context&) {
  const auto& tensors = source_->tensors();
  if (read.index >= tensors.size() || read.bytes > ReadState::kMostBytes ||
      read.offset > tensors[read.index].bytes() ||
      read.bytes > tensors[read.index].bytes() - read.offset) {
    return StateBytes{fail(Code::kInvalid, "a range that lies in no tensor"), {}};
  }
  auto bytes = std::make_shared<std::vector<std::byte>>(read.bytes);
  StateBytes answer;
  answer.read = source_->read(read.index, read.offset, *bytes);
  answer.frames = {Frame(bytes, bytes->data(), bytes->size())};
  return answer;
}

StateRef ServedState::serve(ActorSystem& actors, std::unique_ptr<StateSource> source) {
  take_back();
  auto released = std::make_shared<Latch>();
  // The source moves into the actor, which is made once: the factory outlives it.
  auto held = std::make_shared<std::unique_ptr<StateSource>>(std::move(source));
  StateRef server =
      actors.spawn({.name = "reading other ranks' tables", .placement = Placement::kOwnThread},
                   [=] { return std::make_unique<StateServer>(std::move(*held), released); });
  served_.change([&](Served& served) {
    served.server = server;
    served.released = released;
    if (served.lost) server.stop();
  });
  return server;
}

void ServedState::take_back() {
  const Served served = served_.change([](Served& now) {
    return std::exchange(now, {.server = {}, .released = nullptr, .lost = now.lost});
  });
  if (served.released == nullptr) return;
  served.server.stop();
  served.released->wait();
}

void ServedState::lose() {
  served_.change([](Served& served) {
    served.lost = true;
    served.server.stop();
  });
}

Status RemoteState::read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) {
  while (!to.empty()) {
    const auto piece = to.first(std::min<std::size_t>(to.size(), ReadState::kMostBytes));
    if (auto status = read_piece(index, offset, piece); !status) return status;
    offset += piece.size();
    to = to.subspan(piece.size());
  }
  return {};
}

Status RemoteState::read_piece(std::size_t index, std::uint64_t offset, std::span<std::byte> to) {
  auto got = ask_for({index, offset, to.size()});
  if (!got) return fail(Code::kTimeout, what_ + " does not give its state");
  if (!*got) {
    const bool lost = got->error().code == Code::kUnavailable;
    return fail(got->error().code, what_ + (lost ? " was lost: " : ": ") + got->error().message);
  }
  StateBytes& bytes = **got;
  if (!bytes.read) return std::move(bytes.read);
  if (bytes.frames.size() != 1 || bytes.frames[0].size() != to.size()) {
    return fail(Code::kCorrupt, what_ + " gave other bytes of its state than were asked for");
  }
  std::memcpy(to.data(), bytes.frames[0].data(), to.size());
  return {};
}

// An answer that comes after give_up() stays in the mail, which no later read looks at.
std::optional<Result<StateBytes>> RemoteState::ask_for(const ReadState& piece) {
  if (mail_->change([](const Mail& mail) { return mail.given_up; })) return std::nullopt;
  ask_and_deliver(from_, ReadState(piece), kAnyTime, [mail = mail_](Result<StateBytes> got) {
    mail->change([&](Mail& now) { now.answer = std::move(got); });
  });
  std::optional<Result<StateBytes>> answer;
  static_cast<void>(mail_->wait(
      kAnyTime, [](const Mail& mail) { return mail.answer || mail.given_up; },
      [&](Mail& mail) { answer = std::exchange(mail.answer, std::nullopt); }));
  return answer;
}

void RemoteState::give_up() {
  mail_->change([](Mail& mail) { mail.given_up = true; });
}

}  // namespace forebay
