#include "tools/inspect/checkpoint_report.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "tools/job/quantity.h"
#include "trainer/checkpoint.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

std::uint64_t bytes_of(const Checkpoint& checkpoint) {
  std::uint64_t bytes = 0;
  for (const auto& [name, size] : checkpoint.files) bytes += size;
  return bytes;
}

std::string title_of(const Checkpoint& checkpoint) {
  return "checkpoint after " + format_count(checkpoint.batches) + " batches, " +
         format_count(checkpoint.state.loader.position.rows) + " rows, " +
         format_size(bytes_of(checkpoint));
}

JsonObject json_of(const Checkpoint& checkpoint) {
  const LoaderState& loader = checkpoint.state.loader;
  std::vector<JsonObject> files;
  for (const auto& [name, size] : checkpoint.files) {
    files.push_back(JsonObject().add("name", name).add("bytes", size));
  }
  return JsonObject()
      .add("path", checkpoint.path)
      .add("kind", "checkpoint")
      .add("batches", checkpoint.batches)
      .add("rows", loader.position.rows)
      .add("epochs", loader.position.epoch)
      .add("loss", checkpoint.state.losses.mean())
      .add("order_digest", loader.position.digest.hex())
      .add("fingerprint", loader.fingerprint)
      .add("bytes", bytes_of(checkpoint))
      .add("files", files);
}

std::vector<std::string> lines_of(const Checkpoint& checkpoint) {
  const auto& [loader, losses] = checkpoint.state;
  const auto loss = losses.mean();
  std::vector<std::string> lines = {
      format_count(loader.position.epoch) + " epochs completed, loss " +
          (loss ? std::to_string(*loss) : "unknown") + " over the last " +
          format_count(losses.last().size()) + " of " + format_count(losses.steps()) + " steps",
      "of the dataset with fingerprint " + loader.fingerprint + "; order digest " +
          loader.position.digest.hex()};
  for (const auto& [name, size] : checkpoint.files) {
    lines.push_back("  " + name + ", " + format_size(size) + ", whole");
  }
  return lines;
}

FileReport report_checkpoints(const std::string& path, const std::vector<std::string>& found) {
  FileReport report{.title = std::to_string(found.size()) + " checkpoints"};
  std::vector<JsonObject> list;
  for (const std::string& each : found) {
    auto checkpoint = read_checkpoint(each);
    if (!checkpoint) {
      report.lines.push_back("damaged: " + checkpoint.error().message);
      list.push_back(JsonObject()
                         .add("path", each)
                         .add("kind", "damaged")
                         .add("message", checkpoint.error().message));
      continue;
    }
    report.lines.push_back(each + ": " + title_of(*checkpoint));
    for (const std::string& line : lines_of(*checkpoint)) report.lines.push_back("  " + line);
    list.push_back(json_of(*checkpoint));
  }
  report.json.add("path", path).add("kind", "checkpoints").add("checkpoints", list);
  return report;
}

}  // namespace

Result<FileReport> report_folder(const std::string& path) {
  std::error_code error;
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    if (entry.path().filename().string().starts_with("checkpoint-")) found.push_back(entry.path());
  }
  if (error) return fail(Code::kInvalid, path + ": " + error.message());
  std::ranges::sort(found);
  if (!found.empty()) return report_checkpoints(path, found);
  if (!fs::exists(fs::path(path) / "manifest.json", error)) {
    return fail(Code::kInvalid, path + ": a folder that holds no checkpoint; name a file in it");
  }
  auto checkpoint = read_checkpoint(path);
  if (!checkpoint) return pass(checkpoint);
  return FileReport{
      .title = title_of(*checkpoint), .lines = lines_of(*checkpoint), .json = json_of(*checkpoint)};
}

}  // namespace forebay
