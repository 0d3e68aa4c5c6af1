#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// Changes that reach a Store together or not at all, in their order. A value.
class StoreBatch {
 public:
  struct Change {
    std::string key;
    std::optional<std::string> value;  ///< Nothing: the key is erased.
  };

  void put(std::string key, std::string value) {
    changes_.push_back({std::move(key), std::move(value)});
  }
  void erase(std::string key) { changes_.push_back({std::move(key), std::nullopt}); }

  const std::vector<Change>& changes() const { return changes_; }

 private:
  std::vector<Change> changes_;
};

/// Bytes by key, in the order of the keys, that outlive the process.
///
/// Belongs to one thread, which its calls block. Refuses with kUnavailable, naming the place and
/// why, when the disk does: what was asked may or may not have happened then, and the next
/// call tries anew.
class Store {
 public:
  /// Takes a pair; false: enough.
  using Visitor = std::function<bool(std::string_view key, std::string_view value)>;

  virtual ~Store() = default;

  /// kNotFound when there is no such key.
  virtual Result<std::string> get(std::string_view key) const = 0;

  /// Returns when the whole batch is on disk: one sync, however much is in it.
  virtual Status write(const StoreBatch& batch) = 0;

  /// Visits, in order, the keys that begin with `prefix` and are not before `from`.
  virtual Status scan(std::string_view prefix, std::string_view from,
                      const Visitor& visit) const = 0;
};

}  // namespace forebay
