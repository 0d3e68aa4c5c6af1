#include "tools/synth/synth_files.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/base/file_lock.h"
#include "core/base/whole_file.h"
#include "tools/synth/click_rows.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunk = 1U << 20;
constexpr std::uint64_t kMostFiles = 100'000;
constexpr std::uint64_t kMostRows = 1'000'000'000'000;

std::string file_name(const SynthSpec& spec, std::uint64_t file) {
  return (fs::path(spec.folder) / ("day_" + std::to_string(file) + ".tsv")).string();
}

Status with_advice(Status written) {
  if (!written && written.error().code == Code::kOverloaded) {
    written.error().message += "; free some space or give another --out";
  }
  return written;
}

/// Makes rows in order and counts them.
class Writer {
 public:
  Writer(const SynthSpec& spec, const std::function<bool(std::uint64_t)>& progress)
      : spec_(spec), progress_(progress), text_(kChunk + kMostRowText) {}

  Status write_file(std::uint64_t number, std::uint64_t end_row) {
    auto file = FileAside::create(file_name(spec_, number));
    if (!file) return with_advice(pass(file));
    while (result_.rows < end_row) {
      char* out = text_.data();
      while (result_.rows < end_row && out < text_.data() + kChunk) {
        rows_.make(spec_.seed, result_.rows++, row_);
        auc_.add(row_.chance, row_.click);
        out = write_row(row_, out);
      }
      const std::string_view made(text_.data(), out);
      if (auto written = file->write(made); !written) return with_advice(std::move(written));
      result_.bytes += made.size();
      if (!progress_(result_.rows)) return fail(Code::kUnavailable, "stopped");
    }
    ++result_.files;
    return with_advice(file->commit(Sync::kNo));
  }

  SynthResult result() {
    result_.best_auc = auc_.auc();
    return result_;
  }

 private:
  const SynthSpec& spec_;
  const std::function<bool(std::uint64_t)>& progress_;
  ClickRows rows_;
  AucHistogram auc_;
  ClickRow row_;
  std::vector<char> text_;
  SynthResult result_;
};

}  // namespace

std::optional<double> AucHistogram::auc() const {
  double below = 0;
  double won = 0;
  double clicks = 0;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    const auto others = static_cast<double>(others_[bin]);
    won += static_cast<double>(clicks_[bin]) * (below + others / 2);
    below += others;
    clicks += static_cast<double>(clicks_[bin]);
  }
  if (clicks == 0 || below == 0) return std::nullopt;
  return won / (clicks * below);
}

Result<Descriptor> hold_new_files(const std::string& folder, const std::vector<std::string>& files,
                                  SynthSpec::Existing existing) {
  const auto refuse = [&](const std::string& why) {
    return fail(Code::kInvalid, "--out " + folder + ": " + why);
  };
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return refuse(error.message());
  if (::access(folder.c_str(), W_OK | X_OK) != 0) return refuse(std::strerror(errno));
  auto held = lock_folder(folder, "another synth writes into it; wait for it, or give another one");
  if (!held) return fail(Code::kInvalid, "--out " + held.error().message);
  if (existing == SynthSpec::Existing::kReplace) return held;
  const auto there =
      std::ranges::find_if(files, [&](const std::string& file) { return fs::exists(file, error); });
  if (there == files.end()) return held;
  return fail(Code::kInvalid,
              *there + " is there already; give another --out, or --force to write over it");
}

Result<Descriptor> hold_synth(const SynthSpec& spec) {
  const auto refuse = [](const std::string& what) { return fail(Code::kInvalid, what); };
  if (spec.rows < 1 || spec.rows > kMostRows) return refuse("--rows must be from 1 to 10^12");
  if (spec.files < 1 || spec.files > kMostFiles) return refuse("--files must be from 1 to 100000");
  if (spec.files > spec.rows) return refuse("--files must be at most --rows");
  if (spec.folder.empty()) return refuse("--out DIR is missing; it names the folder to write to");
  return hold_new_files(spec.folder, synth_files(spec), spec.existing);
}

std::vector<std::string> synth_files(const SynthSpec& spec) {
  std::vector<std::string> files;
  for (std::uint64_t file = 0; file < spec.files; ++file) files.push_back(file_name(spec, file));
  return files;
}

std::vector<std::string> older_files(const SynthSpec& spec) {
  std::vector<std::string> files;
  std::error_code error;
  for (std::uint64_t file = spec.files; fs::exists(file_name(spec, file), error); ++file) {
    files.push_back(file_name(spec, file));
  }
  return files;
}

Result<SynthResult> write_synth(const SynthSpec& spec,
                                const std::function<bool(std::uint64_t rows)>& progress) {
  Writer writer(spec, progress);
  for (std::uint64_t file = 0; file < spec.files; ++file) {
    // Below 2⁶³: at most 10¹² rows times 10⁵ files.
    const std::uint64_t end_row = spec.rows * (file + 1) / spec.files;
    if (auto written = writer.write_file(file, end_row); !written) return pass(written);
  }
  return writer.result();
}

}  // namespace forebay
