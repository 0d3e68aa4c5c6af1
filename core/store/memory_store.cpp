#include "core/store/memory_store.h"

#include <algorithm>

namespace forebay {

Result<std::string> MemoryStore::get(std::string_view key) const {
  const auto found = pairs_.find(key);
  if (found == pairs_.end()) return fail(Code::kNotFound, "no key " + std::string(key));
  return found->second;
}

Status MemoryStore::write(const StoreBatch& batch) {
  for (const auto& change : batch.changes()) {
    if (change.value) {
      pairs_[change.key] = *change.value;
    } else {
      pairs_.erase(change.key);
    }
  }
  return {};
}

Status MemoryStore::scan(std::string_view prefix, std::string_view from,
                         const Visitor& visit) const {
  for (auto at = pairs_.lower_bound(std::max(prefix, from));
       at != pairs_.end() && at->first.starts_with(prefix); ++at) {
    if (!visit(at->first, at->second)) break;
  }
  return {};
}

}  // namespace forebay
