#include "engine/actors/cluster/libraries/library_fetch.h"

#include <algorithm>
#include <utility>

#include "engine/actors/cluster/directory/actor_record.h"

namespace forebay {
namespace {

/// Whether another try may succeed.
bool is_passing(Code code) {
  return code == Code::kUnavailable || code == Code::kTimeout || code == Code::kOverloaded;
}

}  // namespace

bool LibraryFetch::is_known(const std::string& digest) const {
  const auto has_digest = [&digest](const LibraryInfo& one) { return one.digest == digest; };
  const auto wants = [&has_digest](const TakeLibrary& one) { return has_digest(one.library); };
  const auto here = libraries_.list();
  return refused_.contains(digest) || refused_.size() >= kMostLibraries ||
         std::any_of(here.begin(), here.end(), has_digest) ||
         std::any_of(wanted_.begin(), wanted_.end(), wants);
}

Status LibraryFetch::want(const TakeLibrary& take) {
  const LibraryInfo& library = take.library;
  // Nothing of such a message is remembered or said: it may be of any length.
  if (!is_actor_name(take.from) || !check(library) || !library.ships) {
    return fail(Code::kInvalid, "a library that no node can ship is not taken");
  }
  if (is_known(library.digest)) return {};
  const char* why = nullptr;
  if (!libraries_.accepts_shipped()) {
    why = "this node was not started with --accept-shipped";
  } else if (libraries_.list().size() + wanted_.size() >= kMostLibraries) {
    why = "a node takes at most 64 libraries";
  }
  if (why == nullptr) {
    wanted_.push_back(take);
    return {};
  }
  refused_.insert(library.digest);
  return fail(Code::kInvalid,
              "library " + library.name + " of node " + take.from + " is not taken: " + why);
}

std::optional<ReadLibrary> LibraryFetch::ask() {
  if (asked_ || wanted_.empty()) return std::nullopt;
  asked_ = true;
  return ReadLibrary{.digest = wanted_.front().library.digest,
                     .offset = incoming_ == nullptr ? 0 : incoming_->offset()};
}

/// With the first library that is wanted.
Error LibraryFetch::name(const Error& why) const {
  const TakeLibrary& take = wanted_.front();
  return {why.code,
          "library " + take.library.name + ", which node " + take.from + " ships: " + why.message};
}

/// The first of those that are wanted is not any more.
Error LibraryFetch::give_up(const Error& why) {
  Error named = name(why);
  wanted_.pop_front();
  incoming_.reset();
  failing_ = false;
  return named;
}

Result<std::optional<LibraryInfo>> LibraryFetch::no_part(const Error& why) {
  if (!is_passing(why.code)) return tl::unexpected<Error>(give_up(why));
  if (std::exchange(failing_, true)) return std::nullopt;
  return tl::unexpected<Error>(name({why.code, why.message + "; it is asked for again"}));
}

Result<std::optional<LibraryInfo>> LibraryFetch::take_part(const LibraryChunk& part) {
  if (incoming_ == nullptr) {
    auto begun = IncomingLibrary::begin(wanted_.front().library);
    if (!begun) return pass(begun);
    incoming_ = std::move(*begun);
  }
  if (auto status = incoming_->take(part.bytes); !status) return pass(status);
  if (!incoming_->is_complete()) return std::nullopt;
  auto opened = libraries_.open_shipped(incoming_->path());
  if (!opened) return pass(opened);
  return std::optional(std::move(*opened));
}

Result<std::optional<LibraryInfo>> LibraryFetch::take(const Result<LibraryChunk>& answer) {
  asked_ = false;
  if (wanted_.empty()) return std::nullopt;
  if (!answer) return no_part(answer.error());
  failing_ = false;
  auto opened = take_part(*answer);
  if (!opened) {
    refused_.insert(wanted_.front().library.digest);
    return tl::unexpected<Error>(give_up(opened.error()));
  }
  if (!*opened) return std::nullopt;
  wanted_.pop_front();
  incoming_.reset();
  return opened;
}

}  // namespace forebay
