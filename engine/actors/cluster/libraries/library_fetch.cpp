#include "engine/actors/cluster/libraries/library_fetch.h"

#include <algorithm>
#include <utility>

namespace forebay {

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
  if (is_known(library.digest)) return {};
  auto sound = check(library);
  if (sound && !libraries_.accepts_shipped()) {
    sound = fail(Code::kInvalid, "this node was not started with --accept-shipped");
  } else if (sound &&
             (!library.ships || libraries_.list().size() + wanted_.size() >= kMostLibraries)) {
    sound = fail(Code::kInvalid, "a node takes at most 64 libraries, and only shipped ones");
  }
  if (sound) {
    wanted_.push_back(take);
    return {};
  }
  refused_.insert(library.digest);
  return sound;
}

std::optional<ReadLibrary> LibraryFetch::ask() {
  if (asked_ || wanted_.empty()) return std::nullopt;
  asked_ = true;
  return ReadLibrary{.digest = wanted_.front().library.digest,
                     .offset = incoming_ == nullptr ? 0 : incoming_->offset()};
}

/// The first of those that are wanted is not any more.
Error LibraryFetch::give_up(const Error& why) {
  const TakeLibrary given_up = wanted_.front();
  wanted_.pop_front();
  incoming_.reset();
  return {why.code, "library " + given_up.library.name + ", which node " + given_up.from +
                        " ships: " + why.message};
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
  if (!answer) {
    if (answer.error().code != Code::kNotFound) return std::nullopt;
    return tl::unexpected<Error>(give_up(answer.error()));
  }
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
