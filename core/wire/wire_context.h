#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace forebay {

/// Turns references to actors into names that are valid on another node, and back. The codec
/// carries only the name; the caller defines the type behind the pointer.
class WireContext {
 public:
  virtual ~WireContext() = default;

  /// The name of `actor`, which a message about to be sent refers to; `actor` is not null.
  virtual std::string export_actor(const std::shared_ptr<void>& actor) = 0;

  /// The actor called `name`. The name comes from the peer and is untrusted, so it may be refused.
  virtual Result<std::shared_ptr<void>> import_actor(std::string_view name) = 0;
};

}  // namespace forebay
