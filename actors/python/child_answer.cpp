#include "actors/python/child_answer.h"

#include <cstring>
#include <string_view>

#include "core/base/text/printable.h"

namespace forebay {
namespace {

tl::unexpected<Error> no_answer(const std::string& what) {
  return fail(Code::kCorrupt, "its process sent " + what +
                                  "; does the function write to file 3, which is Forebay's?");
}

bool is_answer(std::uint32_t kind) {
  return kind >= static_cast<std::uint32_t>(AnswerKind::kReady) &&
         kind <= static_cast<std::uint32_t>(AnswerKind::kUnusable);
}

Result<ChildAnswer> read_done(std::span<const char> payload,
                              std::span<const std::uint64_t> most_ids) {
  if (payload.size() != most_ids.size() * sizeof(std::uint64_t)) {
    return no_answer("an answer of a wrong length");
  }
  ChildAnswer answer{.kind = AnswerKind::kDone};
  answer.ids.resize(most_ids.size());
  if (!payload.empty()) std::memcpy(answer.ids.data(), payload.data(), payload.size());
  for (std::size_t i = 0; i < most_ids.size(); ++i) {
    if (answer.ids[i] > most_ids[i]) return no_answer("more ids than fit");
  }
  return answer;
}

}  // namespace

Status check_answer_header(const ChildHeader& header, std::uint64_t number) {
  if (!is_answer(header.kind)) return no_answer("what is no answer");
  if (header.number != number) return no_answer("the answer to another request");
  if (header.bytes > kMostAnswerBytes) return no_answer("an answer that is too long");
  return {};
}

Result<ChildAnswer> read_answer(const ChildHeader& header, std::span<const char> payload,
                                std::span<const std::uint64_t> most_ids) {
  const auto kind = static_cast<AnswerKind>(header.kind);
  if (kind == AnswerKind::kDone) return read_done(payload, most_ids);
  return ChildAnswer{.kind = kind,
                     .text = printable_message(std::string_view(payload.data(), payload.size()))};
}

}  // namespace forebay
