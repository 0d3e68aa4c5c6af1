#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "trainer/collective.h"

namespace forebay {

/// The store at MASTER_ADDR:MASTER_PORT through which ranks find each other: short texts by name.
///
/// Rank 0 or a launcher serves it. One thread at a time. Fails with kUnavailable if the serving
/// process has ended.
class RankStore {
 public:
  virtual ~RankStore() = default;

  virtual Status put(const std::string& name, const std::string& text) = 0;

  /// Returns the text, or nothing if no rank has put it yet. Does not wait.
  virtual Result<std::optional<std::string>> find(const std::string& name) = 0;

  /// Connects each rank to all others. Every rank calls it; it returns when all have called it, or
  /// fails after the timeout of the CollectiveSpec. It cannot be cancelled.
  virtual Result<std::unique_ptr<Collective>> connect() = 0;
};

}  // namespace forebay
