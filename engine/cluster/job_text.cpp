#include "engine/cluster/job_text.h"

#include <filesystem>
#include <variant>

#include "core/base/whole_file.h"
#include "core/data/digest.h"
#include "core/wire/codec.h"

namespace forebay {
namespace {

std::string fingerprint_text(const std::vector<SharedFile>& files) {
  std::string text;
  for (const SharedFile& file : files) {
    text.append(file.name).append(1, '\n').append(file.content).append(1, '\n');
  }
  return text;
}

Result<SharedFile> library_at(const std::string& path) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  const auto content = read_whole(path, kMostBytes);
  if (!content) return fail(Code::kNotFound, path + ": the library cannot be read on this node");
  return SharedFile{.name = std::filesystem::path(path).filename().string(),
                    .bytes = content->size(),
                    .content = Digest::of(content->data(), content->size()).hex()};
}

}  // namespace

Result<std::vector<SharedFile>> libraries_of(const JobSpec& job) {
  std::vector<SharedFile> libraries;
  for (const TransformSpec& transform : job.transforms) {
    const auto library = transform.params.find("library");
    if (library == transform.params.end()) continue;
    const auto* path = std::get_if<std::string>(&library->second);
    if (path == nullptr) continue;
    auto file = library_at(*path);
    if (!file) return pass(file);
    libraries.push_back(std::move(*file));
  }
  return libraries;
}

std::vector<SharedFile> files_of(const Dataset& dataset) {
  std::vector<SharedFile> files;
  files.reserve(dataset.files().size());
  for (const DatasetFile& file : dataset.files()) {
    files.push_back({file.name, file.bytes, file.content.hex()});
  }
  return files;
}

Result<JobText> job_text_of(const JobSpec& job, const JobRun& run) {
  auto libraries = libraries_of(job);
  if (!libraries) return pass(libraries);
  JobText text;
  text.path = std::filesystem::absolute(job.path).lexically_normal().string();
  text.text = job.source.text;
  text.sets = job.source.sets;
  text.state = to_json(run.state({}));
  text.files = files_of(run.dataset());
  text.libraries = std::move(*libraries);
  return text;
}

std::string encode_job_text(const JobText& text) {
  WireBuffer buffer;
  encode_value(text, buffer);
  const auto bytes = buffer.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<JobText> decode_job_text(const std::string& bytes) {
  return decode_value<JobText>("the job's description", std::as_bytes(std::span(bytes)));
}

std::string fingerprint_of(const JobText& text) {
  const std::string all =
      text.state + '\n' + fingerprint_text(text.files) + fingerprint_text(text.libraries);
  return Digest::of(all.data(), all.size()).hex();
}

}  // namespace forebay
