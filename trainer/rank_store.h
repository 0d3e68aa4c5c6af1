#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "trainer/collective.h"

namespace forebay {

/// The store at MASTER_ADDR:MASTER_PORT by which ranks find each other: short texts by name.
///
/// Rank 0 or a launcher serves it. One thread at a time. Fails with kUnavailable when the process
/// that serves it is gone.
class RankStore {
 public:
  virtual ~RankStore() = default;

  virtual Status put(const std::string& name, const std::string& text) = 0;

  /// Nothing while no rank has put it. Does not wait for one that will.
  virtual Result<std::optional<std::string>> find(const std::string& name) = 0;

  /// Connects each rank to all others: every rank calls it, and it returns when all have, or fails
  /// after the timeout of the CollectiveSpec. Nothing else ends it.
  virtual Result<std::unique_ptr<Collective>> connect() = 0;
};

}  // namespace forebay
