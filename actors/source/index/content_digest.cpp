#include "actors/source/index/content_digest.h"

#include <xxhash.h>

#include "core/base/check.h"

namespace forebay {

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

}  // namespace forebay
