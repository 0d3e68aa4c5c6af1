#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// One table of a file: its values by key, each checked against its rule.
struct PipelineTable {
  using Value = std::variant<std::string, std::int64_t, double>;

  /// Returns whether the key was given. If it was not, `number` and `whole` do not change their
  /// target.
  bool has(std::string_view key) const { return find(key) != nullptr; }
  std::string text(std::string_view key) const;
  void number(std::string_view key, double& into) const;
  void number(std::string_view key, std::optional<double>& into) const;
  void whole(std::string_view key, std::uint64_t& into) const;
  void whole(std::string_view key, std::uint32_t& into) const;
  void whole(std::string_view key, std::optional<std::uint64_t>& into) const;

  const Value* find(std::string_view key) const;

  std::string where;  ///< `p.toml, line 12`
  std::vector<std::pair<std::string, Value>> values;
};

/// A pipeline file as its tables; every key is known, of the right kind and in its range.
struct PipelineDocument {
  PipelineTable top;
  PipelineTable trainer;
  std::vector<PipelineTable> stages;
  std::vector<PipelineTable> events;
};

/// Reads TOML and checks every key on its own. kInvalid names file, line, key, value and what is
/// wanted, or the nearest known key.
Result<PipelineDocument> read_tables(std::string_view text, std::string_view name);

}  // namespace forebay
