#include "actors/python/child_answer.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/random.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using Numbers = std::vector<std::uint64_t>;

std::string bytes_of(const Numbers& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(std::uint64_t)};
}

Result<ChildAnswer> read(AnswerKind kind, const std::string& payload, const Numbers& most = {}) {
  const ChildHeader header{.kind = static_cast<std::uint32_t>(kind),
                           .bytes = static_cast<std::uint32_t>(payload.size()),
                           .number = 1};
  return read_answer(header, payload, most);
}

TEST_CASE("a header is refused unless it is an answer to the request", "[actors][python]") {
  CHECK(check_answer_header({.kind = 2, .bytes = 8, .number = 5}, 5));
  CHECK(check_answer_header({.kind = 1, .bytes = kMostAnswerBytes, .number = 5}, 5));
  CHECK_FALSE(check_answer_header({.kind = 0, .bytes = 8, .number = 5}, 5));
  CHECK_FALSE(check_answer_header({.kind = 6, .bytes = 8, .number = 5}, 5));
  CHECK_FALSE(check_answer_header({.kind = 2, .bytes = 8, .number = 4}, 5));
  CHECK_FALSE(check_answer_header({.kind = 2, .bytes = kMostAnswerBytes + 1, .number = 5}, 5));
}

TEST_CASE("numbers of ids are bounded by what fits", "[actors][python]") {
  const auto done = read(AnswerKind::kDone, bytes_of({3, 10}), {3, 10});
  REQUIRE(done);
  CHECK(done->ids == Numbers{3, 10});
  CHECK_FALSE(read(AnswerKind::kDone, bytes_of({4, 10}), {3, 10}));
  CHECK_FALSE(read(AnswerKind::kDone, bytes_of({3}), {3, 10}));
  CHECK_FALSE(read(AnswerKind::kDone, bytes_of({3, 10, 1}), {3, 10}));
  CHECK_FALSE(read(AnswerKind::kDone, "x"));
}

TEST_CASE("what a function says is one printable line", "[actors][python]") {
  const auto raised = read(AnswerKind::kRaised, "ValueError: a\nb\x1b[2J");
  REQUIRE(raised);
  CHECK(raised->text == "ValueError: a\\nb\\x1b[2J");
}

TEST_CASE("random answers are refused or within their bounds", "[actors][python]") {
  Random random(7);
  for (int round = 0; round < 20000; ++round) {
    ChildHeader header;
    header.kind = static_cast<std::uint32_t>(random.below(8));
    header.bytes = static_cast<std::uint32_t>(random.below(40));
    header.number = random.below(2);
    if (!check_answer_header(header, 1)) continue;
    std::string payload(header.bytes, '\0');
    for (char& each : payload) each = static_cast<char>(random.below(256));
    if (round % 2 == 0) payload.assign(payload.size(), '\0');
    const Numbers most(random.below(4), random.below(100));
    const auto answer = read_answer(header, payload, most);
    if (!answer) continue;
    for (const std::uint64_t ids : answer->ids) CHECK(ids <= most.front());
    CHECK((answer->kind != AnswerKind::kDone || answer->ids.size() == most.size()));
  }
}

}  // namespace
}  // namespace forebay
