#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/job/quantity.h"
#include "engine/outputs/outputs.h"
#include "engine/process/machine.h"
#include "engine/report/json_object.h"
#include "tools/command/commands.h"
#include "tools/process/paths.h"
#include "tools/process/standard_streams.h"
#include "trainer/model_description.h"
#include "trainer/module.h"
#include "trainer/saving/checkpoint.h"
#include "trainer/saving/checkpoint_folder.h"
#include "trainer/saving/checkpoint_names.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

/// TorchScript's zip archives begin with an entry NAME/data.pkl or NAME/data/0.
bool is_archive(std::string_view head) {
  return head.starts_with("PK\x03\x04") && head.find("/data") != std::string_view::npos;
}

/// Returns the checkpoint itself, or the checkpoints in a folder, the last one first.
Result<std::vector<fs::path>> candidates(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return fail(Code::kNotFound, path.string() + ": there is no such folder");
  }
  if (fs::exists(path / "manifest.json", error)) return std::vector{path};
  std::vector<fs::path> found;
  auto names = list_checkpoints(path.string());
  if (!names) return pass(names);
  for (const std::string& name : *names) found.push_back(path / name);
  if (found.empty()) {
    return fail(Code::kNotFound, path.string() + ": there is no checkpoint in it");
  }
  std::ranges::reverse(found);
  return found;
}

/// Limits on the size of a model.
struct Bounds {
  std::string file;
  std::optional<std::uint64_t> most_bytes;  // set by the user

  Status fit(std::uint64_t bytes) const {
    const auto refuse = [&](const std::string& why) {
      return fail(Code::kOverloaded, "the model takes " + format_size(bytes) + why);
    };
    if (most_bytes && bytes > *most_bytes) {
      return refuse(", and --max-bytes allows " + format_size(*most_bytes));
    }
    const std::uint64_t memory = available_memory();
    if (bytes > memory) {
      return refuse(" of memory while it is exported, and " + format_size(memory) + " are free");
    }
    std::error_code error;
    const fs::path folder = fs::absolute(file, error).parent_path();
    const fs::space_info disk = fs::space(folder, error);
    if (!error && bytes > disk.available) {
      return refuse(", and " + folder.string() + " has " + format_size(disk.available) + " free");
    }
    return {};
  }
};

struct Exported {
  ExportedModel model;
  std::uint64_t batches = 0;
};

Result<Exported> export_checkpoint(const fs::path& path, const Bounds& bounds) {
  auto checkpoint = read_checkpoint(path.string(), Check::kSizes);
  if (!checkpoint) return pass(checkpoint);
  const auto text = checkpoint->state.texts.find(kModelFile);
  if (text == checkpoint->state.texts.end()) {
    return fail(Code::kInvalid,
                path.string() + " does not say what its tensors are a model of (" + kModelFile +
                    " is missing); resume the run with this forebay and export what it saves");
  }
  auto model = parse_model(text->second, (path / kModelFile).string());
  if (!model) return pass(model);
  if (!learns(model->spec.model)) {
    return fail(Code::kInvalid, path.string() + " holds no model that has learned anything");
  }
  auto source = FolderSource::open(path.string(), checkpoint->manifest);
  if (!source) return pass(source);
  auto trainer = open_trainer();
  if (!trainer) return pass(trainer);
  const ExportTarget target{.file = bounds.file,
                            .fits = [&](std::uint64_t bytes) { return bounds.fit(bytes); },
                            .is_whole = [&] { return source->finish(); }};
  auto written = (*trainer)->export_model(*model, *source, target);
  if (written) return Exported{*written, checkpoint->batches};
  std::string message = written.error().message;
  if (message.find(path.string()) == std::string::npos) message = path.string() + ": " + message;
  return fail(written.error().code, std::move(message));
}

/// Refuses an output file that would overwrite the checkpoints that are read.
Status check_out(const std::string& file, const std::vector<fs::path>& checkpoints) {
  Inputs inputs;
  for (const fs::path& path : checkpoints) inputs.add_folder("the checkpoint", path.string());
  return check_outputs({{.name = "--out", .path = file, .aside = kExportAside}}, inputs);
}

}  // namespace

Exit run_export(const Invocation& invocation) {
  const std::string file = invocation.value("--out");
  if (file.empty()) return Exit::refused("export needs --out FILE; see forebay export --help");
  Bounds bounds{.file = file, .most_bytes = {}};
  OptionReader read(invocation);
  read.value("--max-bytes", bounds.most_bytes, "a size, such as 512MiB", parse_size);
  if (!read.status()) return Exit::refused(read.status().error());
  if (auto place = check_output_path("--out", file); !place) return Exit::refused(place.error());
  const std::string& named = invocation.arguments.front();
  auto paths = candidates(named);
  if (!paths) return Exit::refused(paths.error());
  if (auto status = check_out(file, *paths); !status) return Exit::refused(status.error());
  if (auto own = check_replaced(file, "a model", is_archive); !own) {
    return Exit::refused(own.error());
  }
  std::optional<Error> last;
  for (const fs::path& path : *paths) {
    auto exported = export_checkpoint(path, bounds);
    if (!exported) {
      last = exported.error();
      if (last->code != Code::kCorrupt || paths->size() == 1) break;
      print_message(last->message + "; trying the one before it");
      continue;
    }
    const auto print_text = [&] {
      std::printf("%s: %s of %s, %llu parameters, as of batch %llu\n", file.c_str(),
                  format_size(exported->model.bytes).c_str(), path.string().c_str(),
                  static_cast<unsigned long long>(exported->model.parameters),
                  static_cast<unsigned long long>(exported->batches));
    };
    return print_result(invocation,
                        JsonObject()
                            .add("file", file)
                            .add("bytes", exported->model.bytes)
                            .add("parameters", exported->model.parameters)
                            .add("checkpoint", path.string())
                            .add("batches", exported->batches),
                        print_text);
  }
  return last->code == Code::kUnavailable ? Exit::failed(*last) : Exit::refused(*last);
}

}  // namespace forebay
