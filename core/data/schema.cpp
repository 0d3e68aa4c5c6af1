#include "core/data/schema.h"

#include <algorithm>

namespace forebay {
namespace {

/// Describes the first difference between two lists of names; "" if they are equal.
std::string difference(const std::string& kind, const std::vector<std::string>& have,
                       const std::vector<std::string>& want) {
  const auto [in_have, in_want] = std::ranges::mismatch(have, want);
  if (in_have == have.end() && in_want == want.end()) return "";
  const auto named = [](const auto& at, const auto& names) {
    return at == names.end() ? std::string("missing") : '"' + *at + '"';
  };
  return kind + " column " + std::to_string(in_have - have.begin() + 1) + " is " +
         named(in_have, have) + ", not " + named(in_want, want);
}

std::vector<std::string> names_of(const std::vector<SparseFeature>& features) {
  std::vector<std::string> names;
  names.reserve(features.size());
  for (const SparseFeature& feature : features) names.push_back(feature.name);
  return names;
}

}  // namespace

std::string difference_in_names(const Schema& have, const Schema& want) {
  const std::string dense = difference("dense", have.dense, want.dense);
  return dense.empty() ? difference("sparse", names_of(have.sparse), names_of(want.sparse)) : dense;
}

}  // namespace forebay
