#include "trainer/log/event_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "trainer/log/event_record.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr int kMostOfASecond = 1000;

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "host";
}

tl::unexpected<Error> not_writable(const std::string& path, int error) {
  return fail(Code::kInvalid, path + ": events cannot be written: " + std::strerror(error) +
                                  "; set trainer.tensorboard to another directory");
}

}  // namespace

Result<EventFile> EventFile::create(const std::string& directory, std::uint64_t step,
                                    WallClock wall_clock) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return not_writable(directory, error.value());
  std::array<char, 64> begin{};
  std::snprintf(begin.data(), begin.size(), "events.out.tfevents.%010lld.",
                static_cast<long long>(wall_clock()));
  const std::string stem = (fs::path(directory) / begin.data()).string() + host_name() + ".";
  for (int number = 0; number < kMostOfASecond; ++number) {
    std::array<char, 8> digits{};
    std::snprintf(digits.data(), digits.size(), "%03d", number);
    const std::string path = stem + digits.data();
    const int descriptor =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno == EEXIST) continue;
    if (descriptor < 0) return not_writable(directory, errno);
    EventFile file(path, descriptor, std::move(wall_clock));
    const double now = file.wall_clock_();
    auto written = file.append(version_record(now));
    if (written) written = file.append(start_record(now, step));
    if (!written) return pass(written);
    return file;
  }
  return not_writable(directory, EEXIST);
}

EventFile::EventFile(EventFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      wall_clock_(std::move(other.wall_clock_)) {}

EventFile::~EventFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status EventFile::append(const std::string& record) const {
  const ssize_t written = ::write(descriptor_, record.data(), record.size());
  if (written == static_cast<ssize_t>(record.size())) return {};
  return fail(Code::kUnavailable, path_ + ": cannot be written: " +
                                      (written < 0 ? std::strerror(errno) : "the disk is full"));
}

Status EventFile::write(const LogLine& line) {
  std::vector<Scalar> scalars;
  const auto add = [&](std::string_view tag, const std::optional<double>& value) {
    if (value) scalars.push_back({tag, static_cast<float>(*value)});
  };
  add("train/loss", line.loss);
  add("train/learning_rate", line.learning_rate);
  add("train/rows_per_second", line.rows_per_second);
  add("train/starved_ratio", line.starved_ratio);
  add("eval/auc", line.auc);
  add("eval/log_loss", line.log_loss);
  add("eval/normalized_entropy", line.normalized_entropy);
  add("eval/calibration", line.calibration);
  return append(scalars_record(wall_clock_(), line.step, scalars));
}

}  // namespace forebay
