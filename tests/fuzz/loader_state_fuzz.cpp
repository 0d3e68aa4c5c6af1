#include <cstddef>
#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "actors/loader_state.h"
#include "core/base/check.h"
#include "core/base/text/json_text.h"
#include "tests/actors/counted_job.h"

namespace {

using forebay::test::CountedJob;

/// Continues from a position as a resumed run does.
void resume(const forebay::LoaderState& state, const CountedJob::Shape& shape) {
  CountedJob job(shape);
  const auto start = check_position(state, job.facts());
  if (!start) {
    FOREBAY_CHECK(!start.error().message.empty());
    return;
  }
  const auto ended = job.run(*start);
  FOREBAY_CHECK(ended.finished || !ended.status);
}

void check(const std::string& text) {
  auto state = forebay::parse_loader_state(text, "state");
  if (!state) {
    FOREBAY_CHECK(!state.error().message.empty());
    return;
  }
  const auto again = forebay::parse_loader_state(to_json(*state), "again");
  FOREBAY_CHECK(again && again->fingerprint == state->fingerprint);
  FOREBAY_CHECK(again->position.ahead == state->position.ahead);
  resume(*state, {.damages = true, .holds_out = true});
  resume(*state, {.mode = forebay::OrderSpec::Mode::kArrival});
}

}  // namespace

/// Any bytes as a loader state, as they are and with the checksum that no mutation would get right:
/// an accepted state writes and reads back the same, and a run that continues from it ends.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check(text);
  nlohmann::json object = forebay::parse_json(text);
  if (!object.is_object()) return 0;
  object.erase("checksum");
  const std::string rest = forebay::json_text(object);
  object["checksum"] = forebay::Digest::of(rest.data(), rest.size()).hex();
  check(forebay::json_text(object));
  return 0;
}
