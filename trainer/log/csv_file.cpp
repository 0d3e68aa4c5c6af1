#include "trainer/log/csv_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

namespace forebay {
namespace {

/// A million lines take less; a larger file was not written here.
constexpr off_t kMostBytes = off_t{1} << 30;

tl::unexpected<Error> refused(const std::string& path, const std::string& what) {
  return fail(Code::kInvalid, path + ": " + what + "; set trainer.csv to another file");
}

Result<std::string> read_all(const std::string& path, int descriptor) {
  struct stat about = {};
  if (::fstat(descriptor, &about) != 0) return refused(path, std::strerror(errno));
  if (!S_ISREG(about.st_mode)) return refused(path, "is no file");
  if (about.st_size > kMostBytes) return refused(path, "is too large to be a run's table");
  std::string text(static_cast<std::size_t>(about.st_size), '\0');
  std::size_t got = 0;
  while (got < text.size()) {
    const ssize_t more =
        ::pread(descriptor, text.data() + got, text.size() - got, static_cast<off_t>(got));
    if (more <= 0) return refused(path, "cannot be read");
    got += static_cast<std::size_t>(more);
  }
  return text;
}

Descriptor open_table(const std::string& path, int how) {
  return Descriptor(::open(path.c_str(), how | O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
}

void put(std::string& text, const std::optional<double>& number) {
  text += ',';
  if (!number) return;
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), *number);
  text.append(digits.data(), end.ptr);
}

/// Whether a line has no loss, so that it is not a step's line.
bool is_evaluation(std::string_view line) {
  constexpr int kBeforeLoss = 3;
  std::size_t field = 0;
  for (int i = 0; i < kBeforeLoss; ++i) {
    const std::size_t comma = line.find(',', field);
    if (comma == std::string_view::npos) return false;
    field = comma + 1;
  }
  return line.substr(field).starts_with(',');
}

}  // namespace

std::size_t kept_bytes(std::string_view table, std::uint64_t step, bool evaluated) {
  std::size_t kept = table.find('\n') + 1;
  while (kept < table.size()) {
    const std::size_t end = table.find('\n', kept);
    if (end == std::string_view::npos) return kept;
    std::uint64_t of = 0;
    const char* const first = table.data() + kept;
    const auto read = std::from_chars(first, table.data() + end, of);
    if (read.ec != std::errc() || read.ptr == first || *read.ptr != ',' || of > step) return kept;
    const bool again = of == step && !evaluated;
    if (again && is_evaluation(table.substr(kept, end - kept))) return kept;
    kept = end + 1;
  }
  return kept;
}

Result<CsvFile> CsvFile::begin(const std::string& path) {
  Descriptor file = open_table(path, O_TRUNC);
  if (!file) return refused(path, std::string("cannot be made: ") + std::strerror(errno));
  if (auto written = append_record(path, file, kHeader); !written) return pass(written);
  return CsvFile(path, std::move(file));
}

Result<CsvFile> CsvFile::resume(const std::string& path, std::uint64_t step, bool evaluated) {
  Descriptor file = open_table(path, 0);
  if (!file) return refused(path, std::string("cannot be opened: ") + std::strerror(errno));
  auto table = read_all(path, file.number());
  if (!table) return pass(table);
  if (table->empty()) return begin(path);
  if (!table->starts_with(kHeader)) return refused(path, "has other columns than a run's table");
  if (::ftruncate(file.number(), static_cast<off_t>(kept_bytes(*table, step, evaluated))) != 0) {
    return refused(path, std::string("cannot be cut: ") + std::strerror(errno));
  }
  return CsvFile(path, std::move(file));
}

Status CsvFile::write(const LogLine& line) {
  std::string text = std::to_string(line.step) + ',' + std::to_string(line.epoch) + ',' +
                     std::to_string(line.rows);
  for (const auto* number :
       {&line.loss, &line.learning_rate, &line.rows_per_second, &line.starved_ratio, &line.auc,
        &line.log_loss, &line.normalized_entropy, &line.calibration}) {
    put(text, *number);
  }
  return append_record(path_, file_, text + '\n');
}

}  // namespace forebay
