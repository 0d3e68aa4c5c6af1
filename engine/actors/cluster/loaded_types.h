#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <forebay/cluster.h>

#include "core/base/result.h"

namespace forebay {

/// The types of actors that a node's libraries have added.
///
/// Owns the table; the libraries outlive it and all actors made by it. Thread-safe between changes.
class LoadedTypes final : public actors::ActorTypes {
 public:
  /// What was wrong with an added type, such as a name that was there before; empty: nothing.
  const std::string& problem() const { return problem_; }
  std::vector<std::string> names() const;
  /// Adds the types of another library, all or none. kInvalid: one was there before.
  Status merge(const LoadedTypes& others);
  /// Whether the type's actors list the message Started.
  bool gets_started(const std::string& type) const;

  /// What makes an actor of this type from packed arguments, again for each restart. The first
  /// actor is made at once. kNotFound: no such type; kCorrupt: other arguments; kInvalid: the
  /// constructor throws.
  Result<actors::ActorFactory> factory(const std::string& type,
                                       std::span<const std::byte> start) const;

 protected:
  void add_type(std::string_view name, const Type& type) override;

 private:
  std::map<std::string, Type> types_;
  std::string problem_;
};

}  // namespace forebay
