#pragma once

#include <chrono>
#include <exception>
#include <string>
#include <string_view>

namespace forebay {

/// Interval at which a waiting thread checks whether to give up: Gloo cannot cancel a wait.
inline constexpr std::chrono::milliseconds kLook{200};

/// Waits for an operation of c10d (`Work` is c10d::Work except in tests). Returns false if
/// `given_up()` returned true. Throws the operation's exception if it failed.
template <class Work, class GivenUp>
bool wait_patiently(Work& work, const GivenUp& given_up) {
  while (!work.isCompleted()) {
    if (given_up()) return false;
    try {
      return work.wait(kLook);
    } catch (const std::exception&) {
      // The operation took longer than one interval, though it may have ended by now; or it failed.
      // If it has ended, waiting again reports its result at once: this exception may only be the
      // interval's timeout.
    }
  }
  return work.wait();
}

/// Whether `text` is a location in a library's source, such as "../gloo/tcp/pair.cc:598".
inline bool is_source_place(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return false;
  return text.substr(0, colon).find(".c") != std::string_view::npos &&
         text.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
}

/// Removes such locations in brackets, with which Gloo's messages begin: they do not help a user.
inline std::string without_source_places(std::string message) {
  for (std::size_t begin = 0; (begin = message.find('[', begin)) != std::string::npos;) {
    const std::size_t end = message.find(']', begin);
    if (end == std::string::npos) break;
    if (is_source_place(std::string_view(message).substr(begin + 1, end - begin - 1))) {
      message.erase(begin, end + 1 - begin + (message.substr(end + 1, 1) == " " ? 1 : 0));
    } else {
      begin = end;
    }
  }
  return message;
}

}  // namespace forebay
