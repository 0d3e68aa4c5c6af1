#pragma once

#include <memory>
#include <span>

#include "core/data/digest.h"

// The state of the hash library; only content_digest.cpp includes its header.
struct XXH3_state_s;

namespace forebay {

/// Digest::of for content in pieces; the digest does not depend on how the content is cut.
class ContentDigest {
 public:
  ContentDigest();
  void add(std::span<const char> piece);
  Digest digest() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

}  // namespace forebay
