#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// Changes that a Store applies together, in order, or not at all. A value.
class StoreBatch {
 public:
  struct Change {
    std::string key;
    std::optional<std::string> value;  ///< Nothing: erases the key.
  };

  void put(std::string key, std::string value) {
    changes_.push_back({std::move(key), std::move(value)});
  }
  void erase(std::string key) { changes_.push_back({std::move(key), std::nullopt}); }

  const std::vector<Change>& changes() const { return changes_; }

 private:
  std::vector<Change> changes_;
};

/// A persistent map from keys to bytes, ordered by key.
///
/// Thread-safe; its calls block the calling thread. When the disk fails, calls return
/// kUnavailable, which names the location and the reason: the operation may or may not have been
/// carried out, and the next call tries again.
class Store {
 public:
  /// Takes a pair; returns false to end the scan.
  using Visitor = std::function<bool(std::string_view key, std::string_view value)>;

  virtual ~Store() = default;

  /// kNotFound if the key does not exist.
  virtual Result<std::string> get(std::string_view key) const = 0;

  /// Returns when the whole batch is on disk; costs one sync, whatever its size.
  virtual Status write(const StoreBatch& batch) = 0;

  /// Visits, in order, the keys that begin with `prefix` and are not less than `from`. `visit` must
  /// not call the store.
  virtual Status scan(std::string_view prefix, std::string_view from,
                      const Visitor& visit) const = 0;
};

/// A Store in memory: for tests, and for runs that need not survive their process.
class MemoryStore final : public Store {
 public:
  Result<std::string> get(std::string_view key) const override {
    const std::lock_guard lock(mutex_);
    const auto found = pairs_.find(key);
    if (found == pairs_.end()) return fail(Code::kNotFound, "no key " + std::string(key));
    return found->second;
  }
  Status write(const StoreBatch& batch) override {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, value] : batch.changes()) {
      if (value) {
        pairs_[key] = *value;
      } else {
        pairs_.erase(key);
      }
    }
    return {};
  }
  Status scan(std::string_view prefix, std::string_view from, const Visitor& visit) const override {
    const std::lock_guard lock(mutex_);
    for (auto at = pairs_.lower_bound(std::max(prefix, from));
         at != pairs_.end() && at->first.starts_with(prefix); ++at) {
      if (!visit(at->first, at->second)) break;
    }
    return {};
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> pairs_;  // under mutex_
};

}  // namespace forebay
