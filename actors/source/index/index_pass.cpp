#include "actors/source/index/index_pass.h"

#include <utility>
#include <vector>

#include <xxhash.h>

#include "actors/source/index/block_builder.h"
#include "actors/source/stored/file_list.h"
#include "core/base/check.h"

namespace forebay {
namespace {

constexpr std::size_t kPiece = 256 << 10;  // small enough to stay in the L2 cache between steps

}  // namespace

ContentDigest::ContentDigest() : state_(XXH3_createState()) {
  FOREBAY_CHECK(state_ != nullptr);
  XXH3_128bits_reset(state_.get());
}

void ContentDigest::add(std::span<const char> piece) {
  XXH3_128bits_update(state_.get(), piece.data(), piece.size());
}

Digest ContentDigest::digest() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
  return {.high = hash.high64, .low = hash.low64};
}

void ContentDigest::Free::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

Error stopped() { return {Code::kUnavailable, "stopped"}; }

Status read_through(const InputFile& file, Codec codec, RestartLog* log, const PassWatch& watch,
                    const std::function<Status(std::span<const char>)>& piece) {
  auto stream = open_stream(file, codec, {}, log, watch.room);
  if (!stream) return pass(stream);
  std::vector<char> buffer(kPiece);
  std::uint64_t consumed = 0;
  std::uint64_t total = 0;
  while (true) {
    if (watch.stopped && watch.stopped()) return tl::unexpected(stopped());
    auto got = (*stream)->next(buffer);
    if (!got) return pass(got);
    total += *got;
    if (total > kMostFileBytes) {
      return fail(Code::kInvalid,
                  file.path() + " holds more than 1 TiB unpacked; split it into several files");
    }
    const auto content = std::span<const char>(buffer).first(*got);
    if (auto status = piece(content); !status) return status;
    if (watch.copy) watch.copy(content);
    if (watch.progress) watch.progress((*stream)->consumed() - consumed);
    consumed = (*stream)->consumed();
    if (*got < buffer.size()) return file.check(file.stamp());
  }
}

Result<FileIndex> index_file(const InputFile& file, Codec codec, const TextFormat& format,
                             IndexWriter& writer, const PassWatch& watch) {
  const std::uint64_t known = codec == Codec::kPlain ? file.size() : 0;
  BlockBuilder builder(slot_rule::slot_for(known));
  ContentDigest content;
  BlockChecks checks;
  std::uint64_t bytes = 0;
  const std::unique_ptr<RowScanner> scanner = format.scanner();
  const auto in_file = [&file](Status status) -> Status {
    if (status) return status;
    return fail(status.error().code, file.path() + ": " + status.error().message);
  };
  const auto scan = [&](std::span<const char> piece) {
    bytes += piece.size();
    content.add(piece);
    if (auto status = in_file(scanner->scan(piece, builder)); !status) return status;
    checks.scanned(piece, builder);
    return Status{};
  };
  RestartLog* log = codec == Codec::kPlain ? nullptr : &writer;
  if (auto status = read_through(file, codec, log, watch, scan); !status) return pass(status);
  scanner->finish(builder);

  FileIndex index;
  index.stamp = file.stamp();
  index.codec = codec;
  index.bytes = bytes;
  index.rows = builder.rows();
  index.content = content.digest();
  index.check = checks.finish(builder);
  index.points = writer.points();
  builder.coarsen(slot_rule::slot_for(bytes));
  index.slot_bytes = builder.slot_bytes();
  index.blocks = std::move(builder).take();
  return index;
}

}  // namespace forebay
