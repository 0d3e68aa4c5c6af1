#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace forebay {

/// Turns references to actors into names that mean the same on another node, and back. What the
/// pointer points to is the caller's business; the codec only carries the name.
class WireContext {
 public:
  virtual ~WireContext() = default;

  /// The name of an actor that a message about to be sent refers to; `actor` is not null.
  virtual std::string export_actor(const std::shared_ptr<void>& actor) = 0;

  /// The actor of that name, as it came from the other side: untrusted, so it may be refused.
  virtual Result<std::shared_ptr<void>> import_actor(std::string_view name) = 0;
};

}  // namespace forebay
