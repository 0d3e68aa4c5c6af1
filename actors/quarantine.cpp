#include "actors/quarantine.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/base/text/number.h"
#include "core/base/text/printable.h"

namespace forebay {
namespace {

constexpr std::size_t kMostLineBytes = 64 << 10;
constexpr char kHeader[] = "file\tbyte_offset\tline\treason\ttext\n";

}  // namespace

Result<std::unique_ptr<Quarantine>> Quarantine::open(Options options, Begin begin) {
  auto opened =
      std::unique_ptr<Quarantine>(new Quarantine(std::move(options)));  // NOLINT: private.
  std::error_code error;
  const auto found = std::filesystem::status(opened->options_.path, error);
  if (std::filesystem::exists(found) && !std::filesystem::is_regular_file(found)) {
    return fail(Code::kInvalid, opened->options_.path +
                                    ": damaged rows are kept there, and it is not a regular file; "
                                    "remove it, or set run.dir to another folder");
  }
  if (begin == Begin::kResumed) {
    if (auto status = opened->remove_half_line(); !status) return pass(status);
    opened->read_known();
    return opened;
  }
  std::filesystem::remove(opened->options_.path, error);
  if (error) return fail(Code::kUnavailable, opened->options_.path + ": " + error.message());
  return opened;
}

// A full disk or a kill leaves half of a line at the file's end. Its row would count as known, and
// the next row would continue the line.
Status Quarantine::remove_half_line() const {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(options_.path, error);
  if (error) return {};  // There is no file.
  const std::uintmax_t from = bytes - std::min<std::uintmax_t>(bytes, kMostLineBytes);
  std::string end(static_cast<std::size_t>(bytes - from), '\0');
  std::ifstream file(options_.path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(from));
  file.read(end.data(), static_cast<std::streamsize>(end.size()));
  if (end.ends_with('\n')) return {};
  const std::size_t newline = end.rfind('\n');
  if (newline != std::string::npos) {
    std::filesystem::resize_file(options_.path, from + newline + 1, error);
  } else if (from == 0) {  // Else a line is longer than those of a run.
    std::filesystem::remove(options_.path, error);
  }
  return error ? Status(fail(Code::kUnavailable, options_.path + ": " + error.message()))
               : Status();
}

// A run keeps at most the allowed rows and the one that exceeded the limit, and writes no line
// longer than kMostLineBytes, so reading stops there.
void Quarantine::read_known() {
  std::ifstream file(options_.path);
  std::string line(kMostLineBytes, '\0');
  const auto next = [&] {
    line.resize(kMostLineBytes);
    if (!file.getline(line.data(), static_cast<std::streamsize>(line.size()))) return false;
    line.resize(std::strlen(line.data()));
    return true;
  };
  next();
  while (known_.size() <= options_.allowed && next()) {
    const std::size_t name_end = line.find('\t');
    if (name_end == std::string::npos) continue;
    const std::string_view digits = std::string_view(line).substr(name_end + 1);
    if (const auto offset = leading_number(digits)) {
      known_.emplace(line.substr(0, name_end), *offset);
    }
  }
}

Status Quarantine::add(const std::vector<BadRow>& rows) {
  for (const BadRow& row : rows) {
    if (auto status = write(row); !status) return status;
    if (++count_ > options_.allowed) {
      std::fflush(file_.get());
      return tl::unexpected<Error>(too_many(row));
    }
  }
  if (file_ && std::fflush(file_.get()) != 0) {
    return fail(Code::kUnavailable, options_.path + ": " + std::strerror(errno));
  }
  return {};
}

Status Quarantine::write(const BadRow& row) {
  if (!file_) {
    const bool fresh = !std::filesystem::exists(options_.path);
    file_.reset(std::fopen(options_.path.c_str(), "a"));
    if (!file_) return fail(Code::kUnavailable, options_.path + ": " + std::strerror(errno));
    if (fresh) std::fputs(kHeader, file_.get());
  }
  const std::string& name = options_.dataset.files()[row.file].name;
  if (known_.contains({printable_field(name), row.offset})) return {};
  std::fprintf(file_.get(), "%s\t%llu\t%s\t%s\t%s\n", printable_field(name).c_str(),
               static_cast<unsigned long long>(row.offset), line_of(row).c_str(),
               printable_message(row.reason).c_str(), printable_field(row.text).c_str());
  return {};
}

Error Quarantine::too_many(const BadRow& row) const {
  const std::string& path = options_.dataset.files()[row.file].path;
  return {Code::kCorrupt, path + ": " + place_of(row) +
                              " is damaged: " + printable_message(row.reason) +
                              "; dataset.bad_rows = " + std::to_string(options_.allowed) +
                              " allows no more; damaged rows are kept in " + options_.path};
}

}  // namespace forebay
