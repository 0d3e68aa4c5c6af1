#include "trainer/saving/last_save.h"

namespace forebay {

std::optional<std::chrono::nanoseconds> time_to_write(std::uint64_t bytes,
                                                      double bytes_per_second) {
  if (!(bytes_per_second > 0)) return std::nullopt;
  const std::chrono::duration<double> seconds(static_cast<double>(bytes) / bytes_per_second);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(seconds);
}

LastSave plan_last_save(const LastSaveQuestion& question) {
  const auto fits = [&](std::uint64_t bytes) {
    const auto time = time_to_write(bytes, question.bytes_per_second);
    return question.left.count() > 0 && (!time || *time <= question.left);
  };
  if (question.bytes_left > 0) {
    if (fits(question.bytes_left + question.bytes)) return LastSave::kWaitAndWrite;
    if (fits(question.bytes)) return LastSave::kWrite;
    return fits(question.bytes_left) ? LastSave::kWait : LastSave::kNothing;
  }
  return fits(question.bytes) ? LastSave::kWrite : LastSave::kNothing;
}

}  // namespace forebay
