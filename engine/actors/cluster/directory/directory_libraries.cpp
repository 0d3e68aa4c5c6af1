#include <chrono>
#include <string>
#include <utility>

#include "core/runtime/ask.h"
#include "engine/actors/cluster/directory/actor_directory.h"

namespace forebay {
namespace {

/// For a part of a library from the node that ships it.
constexpr std::chrono::seconds kPartPatience(8);

}  // namespace

/// To each node what it lacks; it leaves out those that it has been offered before.
void ActorDirectory::offer_libraries() {
  for (auto& [name, lacking] : libraries_.lacking()) {
    for (TakeLibrary& take : lacking) {
      static_cast<void>(table_.node_named(name)->ref.tell(std::move(take)));
    }
  }
}

Result<LibraryChunk> ActorDirectory::on(ReadLibrary&& read,
                                        std::unique_ptr<Replier<LibraryChunk>>& asker, Context&) {
  const std::string* source = libraries_.source(read.digest);
  const ActorTable::Node* node = source == nullptr ? nullptr : table_.node_named(*source);
  if (node == nullptr) return fail(Code::kNotFound, "no node ships it any more");
  if (asker == nullptr) return fail(Code::kInvalid, "who reads a library must ask");
  ask_and_deliver(node->ref, std::move(read), kPartPatience,
                  [asker = std::shared_ptr(std::move(asker))](Result<LibraryChunk> part) {
                    asker->answer(std::move(part));
                  });
  return LibraryChunk{};  // The asker is answered later.
}

Status ActorDirectory::on(LibraryLoaded&& loaded, Context& context) {
  if (table_.node_named(loaded.node) == nullptr) return {};  // If it comes back, it lists it.
  if (auto status = libraries_.add(loaded.node, loaded.library); !status) {
    say("node " + loaded.node + ": " + status.error().message);
    return {};
  }
  say("node " + loaded.node + " has library " + loaded.library.name + " now");
  table_.add_types(loaded.node, loaded.library.types);
  offer_libraries();
  place_waiting(context);
  return {};
}

}  // namespace forebay
