#include "engine/actors/cluster/directory/actor_record.h"

#include <algorithm>

#include "engine/actors/kept_state.h"

namespace forebay {
namespace {

constexpr std::size_t kMostNameBytes = 128;
// A million actors' needs together are below 2^64.
constexpr std::uint64_t kMostCpuThousandths = 1'000'000'000;
constexpr std::uint64_t kMostMemory = std::uint64_t{1} << 44;

}  // namespace

bool is_actor_name(std::string_view name) {
  const auto plain = [](char letter) { return static_cast<unsigned char>(letter) >= ' '; };
  return !name.empty() && name.size() <= kMostNameBytes &&
         std::all_of(name.begin(), name.end(), plain);
}

bool are_sound_needs(const ActorSpec& spec) {
  return spec.cpu_thousandths <= kMostCpuThousandths && spec.memory_bytes <= kMostMemory;
}

bool is_sound(const ActorSpec& spec) {
  return is_actor_name(spec.name) && spec.start.size() <= kMostStartBytes && are_sound_needs(spec);
}

bool is_sound(const ActorRecord& record) {
  const auto is_negative = [](std::chrono::nanoseconds at) { return at.count() < 0; };
  return is_sound(record.spec) && record.kept_bytes <= kMostKeptBytes &&
         record.losses.size() <= record.spec.restarts &&
         std::ranges::none_of(record.losses, is_negative) &&
         (record.node.empty() ? record.life == 0 : is_actor_name(record.node) && record.life > 0);
}

}  // namespace forebay
