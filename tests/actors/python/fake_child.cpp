// A child that speaks the protocol of python/forebay/_child.py, well or badly: FAKE_CHILD says how.

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "actors/python/child_answer.h"

namespace forebay {
namespace {

constexpr int kChannel = 3;
constexpr int kMemory = 4;

void receive(void* to, std::size_t bytes) {
  if (bytes > 0 && ::recv(kChannel, to, bytes, MSG_WAITALL) != static_cast<ssize_t>(bytes)) {
    std::_Exit(0);
  }
}

void send_bytes(const void* from, std::size_t bytes) {
  static_cast<void>(::send(kChannel, from, bytes, MSG_NOSIGNAL));
}

void answer(AnswerKind kind, std::uint64_t number, const std::string& payload) {
  const ChildHeader header{.kind = static_cast<std::uint32_t>(kind),
                           .bytes = static_cast<std::uint32_t>(payload.size()),
                           .number = number};
  send_bytes(&header, sizeof header);
  send_bytes(payload.data(), payload.size());
}

/// Whether this is the first child that asks; FAKE_CHILD_ONCE names the file that remembers it.
bool is_first() {
  const char* const path = std::getenv("FAKE_CHILD_ONCE");
  const int file = path == nullptr ? -1 : ::open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
  if (file >= 0) ::close(file);
  return file >= 0;
}

/// Doubles the first dense column; its result is the next column. With a negative value it raises.
void call(const std::vector<std::uint64_t>& request, std::uint64_t number) {
  const std::uint64_t rows = request[0];
  void* const mapped = ::mmap(nullptr, request[1], PROT_READ | PROT_WRITE, MAP_SHARED, kMemory, 0);
  auto* const memory = static_cast<char*>(mapped);
  const auto* from = reinterpret_cast<const float*>(memory + request[2]);
  auto* to = reinterpret_cast<float*>(memory + request[3]);
  bool negative = false;
  for (std::uint64_t row = 0; row < rows; ++row) {
    negative = negative || from[row] < 0;
    to[row] = 2 * from[row];
  }
  if (negative) {
    answer(AnswerKind::kRaised, number, "ValueError: negative");
  } else {
    answer(AnswerKind::kDone, number, "");
  }
  ::munmap(mapped, request[1]);
}

void misbehave(const std::string& how, std::uint64_t number) {
  if (how == "dies" || (how == "dies once" && is_first())) ::raise(SIGKILL);
  if (how == "hangs") ::pause();
  if (how == "leaves") std::_Exit(3);
  if (how == "other number") answer(AnswerKind::kDone, number + 7, "");
  if (how == "other kind") answer(static_cast<AnswerKind>(77), number, "");
  if (how == "long payload") answer(AnswerKind::kDone, number, "12345678");
  if (how == "huge payload") {
    const ChildHeader header{.kind = 2, .bytes = 1U << 31, .number = number};
    send_bytes(&header, sizeof header);
  }
  if (how == "half a header") {
    send_bytes("1234", 4);
    std::_Exit(0);
  }
  if (how == "shrinks" && ::ftruncate(kMemory, 0) != 0) {
    answer(AnswerKind::kRefused, number, "it cannot be shrunk");
  }
}

int run() {
  const char* const set = std::getenv("FAKE_CHILD");
  const std::string how = set == nullptr ? "" : set;
  if (how == "complains") {
    std::fputs("first line\nNo module named forebay\n", stderr);
    return 1;
  }
  if (how == "dies at once" && is_first()) ::raise(SIGKILL);
  bool configured = false;
  while (true) {
    ChildHeader header;
    receive(&header, sizeof header);
    std::vector<std::uint64_t> request((header.bytes + 7) / 8);
    receive(request.data(), header.bytes);
    if (!configured) {
      configured = true;
      if (how == "unusable") {
        answer(AnswerKind::kUnusable, header.number, "no such\nmodule");
        return 0;
      }
      answer(AnswerKind::kReady, header.number, "");
      continue;
    }
    misbehave(how, header.number);
    call(request, header.number);
  }
}

}  // namespace
}  // namespace forebay

int main() { return forebay::run(); }
