#include "actors/input/store/store_stat.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "actors/input/store/transfer/store_error.h"
#include "core/data/digest.h"

namespace forebay {
namespace {

Result<StoredVersion> version_of(const ResponseHead& head, std::optional<std::uint64_t> bytes,
                                 StoreClient& client, const std::string& path) {
  if (!bytes) {
    return fail(Code::kInvalid, path + " cannot be read: the server does not tell its size");
  }
  StoredVersion version{.bytes = *bytes, .etag = head.etag, .last_modified = head.last_modified};
  if (const std::string doubt = version_doubt(version); !doubt.empty()) {
    client.announce_doubt(path, doubt);
  }
  return version;
}

/// The size of the file of which an answer is the first byte, or the whole; the length of the
/// answer says nothing about it if it is a part.
std::optional<std::uint64_t> size_in(const ResponseHead& head) {
  if (head.status != 206) return head.content_length;
  return head.content_range ? std::optional(head.content_range->total) : std::nullopt;
}

bool is_good(int status) { return status >= 200 && status < 300; }

}  // namespace

Result<StoredVersion> stat_target(StoreClient& client,
                                  const std::shared_ptr<const Target>& target) {
  auto reply = client.call(target, {.method = "HEAD"});
  if (!reply) return pass(reply);
  // A body that is packed for the way has another size than the file.
  if (is_good(reply->head.status) && reply->head.content_length) {
    return version_of(reply->head, reply->head.content_length, client, target->path);
  }
  auto first = client.call(
      target, {.method = "GET", .headers = {{"range", "bytes=0-0"}}, .needs_head_only = true});
  if (!first) return pass(first);
  const ResponseHead& head = first->head;
  return version_of(head, size_in(head), client, target->path);
}

std::string version_doubt(const StoredVersion& version) {
  if (version.has_strong_etag()) return "";
  if (!version.etag.empty()) {
    return "gives weak ETags, which are compared with each answer's: a change is noticed if the "
           "server gives another one";
  }
  if (!version.last_modified.empty()) {
    return "gives no ETag: a change is noticed by the size and the time of the last change, in "
           "whole seconds";
  }
  return "gives neither an ETag nor a time of the last change: a change is noticed by the size "
         "alone";
}

FileStamp stamp_of(const StoredVersion& version) {
  const std::string& text = version.etag.empty() ? version.last_modified : version.etag;
  return {.bytes = version.bytes,
          .version = static_cast<std::int64_t>(Digest::of(text.data(), text.size()).low)};
}

}  // namespace forebay
