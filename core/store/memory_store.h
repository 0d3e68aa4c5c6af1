#pragma once

#include <map>
#include <string>

#include "core/store/store.h"

namespace forebay {

/// A Store in memory: for tests, and for runs that need not survive their process.
class MemoryStore final : public Store {
 public:
  Result<std::string> get(std::string_view key) const override;
  Status write(const StoreBatch& batch) override;
  Status scan(std::string_view prefix, std::string_view from, const Visitor& visit) const override;

 private:
  std::map<std::string, std::string, std::less<>> pairs_;
};

}  // namespace forebay
