#include "engine/actors/cluster/directory/actor_store.h"

#include <span>
#include <string_view>
#include <utility>

#include "core/wire/codec.h"

namespace forebay {
namespace {

constexpr std::string_view kRecordPrefix = "actors/record/";
constexpr std::string_view kStatePrefix = "actors/state/";

std::string key_of(std::string_view prefix, const std::string& name) {
  return std::string(prefix) + name;
}

template <class T>
std::string encoded(const T& value) {
  WireBuffer buffer;
  encode_value(value, buffer);
  const auto bytes = buffer.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <class T>
Result<T> decoded(std::string_view what, std::string_view bytes) {
  return decode_value<T>(what, std::as_bytes(std::span(bytes)));
}

}  // namespace

Status ActorStore::load(const std::function<void(const ActorRecord&)>& take,
                        const std::function<void(const Error&)>& skipped) const {
  return store_.scan(kRecordPrefix, kRecordPrefix, [&](std::string_view key, auto value) {
    const std::string name(key.substr(kRecordPrefix.size()));
    const auto record = decoded<ActorRecord>("the stored actor " + name, value);
    if (!record) {
      skipped(record.error());
    } else if (record->spec.name != name || !is_sound(*record)) {
      skipped({Code::kCorrupt, "the stored actor " + name + " is not one of this program"});
    } else {
      take(*record);
    }
    return true;
  });
}

void ActorStore::keep(const std::string& name, std::uint64_t birth, Bytes state) {
  Kept& kept = kept_[name];
  waiting_bytes_ += state.size() - kept.state.size();
  kept = {birth, std::move(state)};
}

Status ActorStore::write(const ActorTable& table) {
  StoreBatch batch;
  for (const std::string& name : changed_) {
    const ActorTable::Entry* entry = table.find(name);
    if (entry != nullptr) {
      batch.put(key_of(kRecordPrefix, name), encoded(ActorTable::record(*entry)));
    } else {
      batch.erase(key_of(kRecordPrefix, name));
      batch.erase(key_of(kStatePrefix, name));
    }
  }
  for (const auto& [name, kept] : kept_) {
    const ActorTable::Entry* entry = table.find(name);
    if (entry == nullptr || entry->spec.birth != kept.birth) continue;
    batch.put(key_of(kStatePrefix, name), encoded(kept));
  }
  kept_.clear();
  waiting_bytes_ = 0;
  if (batch.changes().empty()) return {};
  auto status = store_.write(batch);
  if (status) changed_.clear();
  return status;
}

Result<ActorStore::Bytes> ActorStore::state(const std::string& name, std::uint64_t birth) const {
  auto bytes = store_.get(key_of(kStatePrefix, name));
  if (!bytes && bytes.error().code == Code::kNotFound) return Bytes();
  if (!bytes) return pass(bytes);
  auto kept = decoded<Kept>("the kept state of actor " + name, *bytes);
  if (!kept) return pass(kept);
  // An earlier actor of this name may have kept it.
  return kept->birth == birth ? std::move(kept->state) : Bytes();
}

}  // namespace forebay
