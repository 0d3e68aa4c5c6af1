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
#include "trainer/saving/last_checkpoint.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

/// TorchScript's zip archives begin with an entry NAME/data.pkl or NAME/data/0.
bool is_archive(std::string_view head) {
  return head.starts_with("PK\x03\x04") && head.find("/data") != std::string_view::npos;
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
  std::string checkpoint;
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
  if (written) return Exported{*written, path.string(), checkpoint->batches};
  std::string message = written.error().message;
  if (message.find(path.string()) == std::string::npos) message = path.string() + ": " + message;
  return fail(written.error().code, std::move(message));
}

/// Refuses an output file that would overwrite the checkpoints that are read.
Status check_out(const std::string& file, const std::vector<std::string>& checkpoints) {
  Inputs inputs;
  for (const std::string& path : checkpoints) inputs.add_folder("the checkpoint", path);
  return check_outputs({{.name = "--out", .path = file, .aside = kExportAside}}, inputs);
}

Result<Exported> export_last(const std::string& path, const Bounds& bounds) {
  Exported last;
  const auto read = [&](const std::string& checkpoint) -> Status {
    auto exported = export_checkpoint(checkpoint, bounds);
    if (!exported) return pass(exported);
    last = std::move(*exported);
    return {};
  };
  const auto on_damaged = [](const Error& damage) {
    print_message(damage.message + "; trying the one before it");
  };
  auto done = read_last_checkpoint(path, {.read = read, .on_damaged = on_damaged});
  if (!done) return pass(done);
  return last;
}

Exit print(const Invocation& invocation, const std::string& file, const Exported& exported) {
  const auto print_text = [&] {
    std::printf("%s: %s of %s, %llu parameters, as of batch %llu\n", file.c_str(),
                format_size(exported.model.bytes).c_str(), exported.checkpoint.c_str(),
                static_cast<unsigned long long>(exported.model.parameters),
                static_cast<unsigned long long>(exported.batches));
  };
  return print_result(invocation,
                      JsonObject()
                          .add("file", file)
                          .add("bytes", exported.model.bytes)
                          .add("parameters", exported.model.parameters)
                          .add("checkpoint", exported.checkpoint)
                          .add("batches", exported.batches),
                      print_text);
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
  auto checkpoints = checkpoints_at(named);
  if (!checkpoints) return Exit::refused(checkpoints.error());
  if (auto status = check_out(file, *checkpoints); !status) return Exit::refused(status.error());
  if (auto own = check_replaced(file, "a model", is_archive); !own) {
    return Exit::refused(own.error());
  }
  auto exported = export_last(named, bounds);
  if (exported) return print(invocation, file, *exported);
  const Error& error = exported.error();
  return error.code == Code::kUnavailable ? Exit::failed(error) : Exit::refused(error);
}

}  // namespace forebay
