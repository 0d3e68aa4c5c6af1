#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "core/store/store.h"

namespace forebay {

/// A Store in memory: for tests, and for runs that need not survive their process.
class MemoryStore final : public Store {
 public:
  Result<std::string> get(std::string_view key) const override {
    const auto found = pairs_.find(key);
    if (found == pairs_.end()) return fail(Code::kNotFound, "no key " + std::string(key));
    return found->second;
  }
  Status write(const StoreBatch& batch) override {
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
    for (auto at = pairs_.lower_bound(std::max(prefix, from));
         at != pairs_.end() && at->first.starts_with(prefix); ++at) {
      if (!visit(at->first, at->second)) break;
    }
    return {};
  }

 private:
  std::map<std::string, std::string, std::less<>> pairs_;
};

}  // namespace forebay
