#include "engine/actors/kept_state.h"

#include <string>

namespace forebay {

void KeptState::keep(const actors::Box& state, Done done) {
  auto packed = pack(state);
  if (!packed) return done(pass(packed));
  if (!packed->actors.empty() || !packed->objects.empty()) {
    return done(fail(Code::kInvalid,
                     "a kept state must not hold references to actors or objects; keep the names "
                     "of actors"));
  }
  if (packed->bytes.size() > kMostKeptBytes) {
    return done(fail(Code::kInvalid, "the state takes " + std::to_string(packed->bytes.size()) +
                                         " bytes, and at most 16 MiB are kept; use more actors"));
  }
  last_ = std::move(packed->bytes);
  if (!copy_) return done({});
  copy_(last_, std::move(done));
}

Status KeptState::load_into(actors::ActorObject& object) const {
  const actors::ValueType* type = object.kept_type();
  if (type == nullptr || last_.empty()) return {};
  NoActors none;
  auto state = unpack({.number = type->number, .bytes = last_, .actors = {}}, type, none);
  if (!state) return fail(state.error().code, "its kept state: " + state.error().message);
  object.load_kept(*state);
  return {};
}

}  // namespace forebay
