#include "actors/source/stored/codec.h"

#include <array>
#include <string_view>

namespace forebay {
namespace {

using namespace std::literals;

struct Foreign {
  std::string_view magic;
  std::string_view name;
};
constexpr std::array kForeign = {
    Foreign{"\xfd"
            "7zXZ\0"sv,
            "xz"},
    Foreign{"BZh91AY&"sv, "bzip2"},
    Foreign{"PK\3\4"sv, "zip"},
    Foreign{"PAR1"sv, "Parquet"},
    Foreign{"\x04\x22\x4d\x18"sv, "lz4"},
};

bool is_zstd(std::string_view head) {
  // RFC 8878: a frame, or a skippable frame (0x184D2A50 … 0x184D2A5F).
  return head.starts_with("\x28\xb5\x2f\xfd"sv) ||
         (head.size() >= 4 && (head[0] & 0xf0) == 0x50 && head.substr(1, 3) == "\x2a\x4d\x18"sv);
}

}  // namespace

Result<Codec> detect_codec(const std::string& path, std::span<const char> head) {
  const std::string_view bytes(head.data(), head.size());
  const Codec codec = bytes.starts_with("\x1f\x8b"sv) ? Codec::kGzip
                      : is_zstd(bytes)                ? Codec::kZstd
                                                      : Codec::kPlain;
  if (path.ends_with(".gz") && codec != Codec::kGzip) {
    return fail(Code::kInvalid, path + " is named .gz but holds no gzip data; rename or repack it");
  }
  if (path.ends_with(".zst") && codec != Codec::kZstd) {
    return fail(Code::kInvalid,
                path + " is named .zst but holds no zstd data; rename or repack it");
  }
  for (const Foreign& foreign : kForeign) {
    if (bytes.starts_with(foreign.magic)) {
      return fail(Code::kInvalid,
                  path + " holds " + std::string(foreign.name) +
                      " data, which is not read; unpack it (gzip and zstd are read)");
    }
  }
  return codec;
}

std::string without_codec_suffix(const std::string& path) {
  for (const std::string_view suffix : {".gz"sv, ".zst"sv}) {
    if (path.ends_with(suffix)) return path.substr(0, path.size() - suffix.size());
  }
  return path;
}

}  // namespace forebay
