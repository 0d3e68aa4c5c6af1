#include "engine/actors/cluster/loaded_types.h"

#include <utility>

#include "core/runtime/supervisor.h"
#include "engine/actors/cluster/directory/actor_record.h"
#include "engine/actors/user_message.h"

namespace forebay {

void LoadedTypes::add_type(std::string_view name, const Type& type) {
  if (!is_actor_name(name)) {
    problem_ = "a type's name must be one line of 1 to 128 bytes";
  } else if (!types_.emplace(name, type).second) {
    problem_ = "the type " + std::string(name) + " was added before";
  }
}

Status LoadedTypes::merge(const LoadedTypes& others) {
  for (const auto& [name, type] : others.types_) {
    if (!types_.contains(name)) continue;
    return fail(Code::kInvalid, "another library has added the type " + name + " before");
  }
  types_.insert(others.types_.begin(), others.types_.end());
  return {};
}

bool LoadedTypes::gets_started(const std::string& type) const {
  const auto found = types_.find(type);
  return found != types_.end() && found->second.gets_started;
}

std::vector<std::string> LoadedTypes::names() const {
  std::vector<std::string> names;
  for (const auto& [name, type] : types_) names.push_back(name);
  return names;
}

Result<actors::ActorFactory> LoadedTypes::factory(const std::string& type,
                                                  std::span<const std::byte> start) const {
  const auto found = types_.find(type);
  if (found == types_.end()) return fail(Code::kNotFound, "this node has no type " + type);
  NoActors none;
  const PackedValue packed{.number = 0, .bytes = {start.begin(), start.end()}, .actors = {}};
  auto arguments = unpack(packed, found->second.start, none);
  if (!arguments) {
    return fail(arguments.error().code,
                "the arguments of type " + type + ": " + arguments.error().message);
  }
  const auto held = std::make_shared<const actors::Box>(std::move(*arguments));
  const auto first = std::make_shared<std::unique_ptr<actors::ActorObject>>();
  const Make make = found->second.make;
  if (const auto crash = catch_crash([&] { *first = make(held->data()); })) {
    return fail(Code::kInvalid, "its constructor threw: " + crash->message);
  }
  return actors::ActorFactory(
      [first, held, make] { return *first != nullptr ? std::move(*first) : make(held->data()); });
}

}  // namespace forebay
