#include "actors/source/stored/file_head.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "actors/source/stored/byte_stream.h"

namespace forebay {
namespace {

constexpr std::uint64_t kPiece = 1 << 20;  // read at a time; `bytes` may be very large

}  // namespace

Result<std::vector<char>> read_head(const ListedFile& listed, std::uint64_t bytes) {
  auto file = listed.open();
  if (!file) return pass(file);
  auto stream = open_stream(**file, listed.codec, {}, nullptr);
  if (!stream) return pass(stream);
  if (listed.codec == Codec::kPlain) bytes = std::min(bytes, listed.stamp.bytes);
  std::vector<char> head;
  while (head.size() < bytes) {
    const std::size_t size = head.size();
    const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, bytes - size));
    head.resize(size + piece);
    auto got = (*stream)->next(std::span(head).subspan(size));
    if (!got) return pass(got);
    head.resize(size + *got);
    if (*got < piece) break;
  }
  return head;
}

}  // namespace forebay
