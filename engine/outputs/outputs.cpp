#include "engine/outputs/outputs.h"

#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "engine/outputs/place.h"
#include "trainer/saving/checkpoint_names.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

using Kind = Output::Kind;
using OtherRuns = std::function<std::vector<RunningInputs>()>;

Status refuse(const Output& output, const std::string& path, const std::string& why) {
  return fail(Code::kInvalid, output.name + " " + path + " " + why);
}

std::string another(const Output& output) {
  return "; give " + output.name + " another " + (output.kind == Kind::kFile ? "file" : "folder");
}

/// The names under which a file is written: the final one and the temporary one.
std::vector<std::string> names_of(const Output& output) {
  if (output.aside.empty()) return {output.path};
  return {output.path, output.path + output.aside};
}

std::string same_file(const std::string& path, const std::string& input) {
  std::error_code error;
  const bool by_name = fs::absolute(path, error).lexically_normal() == input;
  return by_name ? "is " : "is the same file as " + input + ", ";
}

/// Returns whether a checkpoint store creates or removes files with this name.
bool is_of_a_store(const std::string& name) {
  return is_checkpoint_name(name) || is_unfinished(name) || is_set_aside(name);
}

/// Outputs and their names that exist already as regular files.
using Existing = std::map<FileIdentity, std::pair<const Output*, std::string>>;

/// Checks the outputs of one command, one rule after the other.
class Check {
 public:
  Check(const std::vector<Output>& outputs, const Inputs& inputs)
      : outputs_(outputs), inputs_(inputs) {}

  Status kinds() const;
  Status twice();
  Status folders();
  Status swept_inputs();
  Status files(const OtherRuns& others) const;

 private:
  Status folders_of(const Output& output);
  Status own_files(const Existing& there) const;

  const std::vector<Output>& outputs_;
  const Inputs& inputs_;
  PlaceFinder find_;
};

/// Finds the regular files that exist already at the outputs' paths.
Existing existing_files(const std::vector<Output>& outputs) {
  Existing found;
  for (const Output& output : outputs) {
    if (output.kind != Kind::kFile) continue;
    for (const std::string& name : names_of(output)) {
      if (const auto file = regular_file_at(name)) found.try_emplace(*file, &output, name);
    }
  }
  return found;
}

/// Only the final name may replace an input. If the temporary name did, a kill could destroy both
/// files.
bool may_replace(const Output& output, const std::string& name, const InputEntry& entry) {
  return entry.role == output.replaces && name == output.path;
}

Status Check::kinds() const {
  for (const Output& output : outputs_) {
    std::error_code error;
    const fs::file_status there = fs::status(output.path, error);
    if (output.kind == Kind::kFile && fs::is_directory(there)) {
      return refuse(output, output.path, "is a folder" + another(output));
    }
    if (output.kind == Kind::kFolder && fs::exists(there) && !fs::is_directory(there)) {
      return refuse(output, output.path, "is no folder" + another(output));
    }
  }
  return {};
}

/// Refuses two outputs that are one file: they would overwrite each other.
Status Check::twice() {
  std::map<fs::path, const Output*> seen;
  std::map<FileIdentity, const Output*> there;
  const auto refuse_both = [](const Output& one, const Output& before) {
    return refuse(one, one.path,
                  "is the same file as " + before.name + " " + before.path + another(one));
  };
  for (const Output& output : outputs_) {
    if (output.kind != Kind::kFile) continue;
    for (const std::string& name : names_of(output)) {
      std::error_code error;
      const fs::file_status status = fs::status(name, error);
      if (fs::exists(status) && !fs::is_regular_file(status)) continue;
      const auto [before, is_new] = seen.emplace(find_.place_of(name), &output);
      if (!is_new) return refuse_both(output, *before->second);
      const auto file = regular_file_at(name);
      if (!file) continue;
      const auto [linked, is_first] = there.emplace(*file, &output);
      if (!is_first) return refuse_both(output, *linked->second);
    }
  }
  return {};
}

Status Check::folders() {
  for (const Output& output : outputs_) {
    if (output.kind != Kind::kFile && output.kind != Kind::kFolder) continue;
    if (auto status = folders_of(output); !status) return status;
  }
  return {};
}

/// Refuses outputs in a checkpoint, which they would damage, and in a swept folder, where they
/// would be lost.
Status Check::folders_of(const Output& output) {
  const fs::path place = find_.place_of(output.path);
  const auto lies_in = [&](const fs::path& folder, const std::string& what) {
    return refuse(output, output.path,
                  "lies in " + folder.string() + ", " + what + another(output));
  };
  for (const std::string& folder : inputs_.folders) {
    const fs::path kept = find_.place_of(folder);
    if (is_within(place, kept)) return lies_in(kept, "which this command reads");
  }
  for (const Output& swept : outputs_) {
    if (swept.kind != Kind::kSweptFolder) continue;
    const fs::path folder = find_.place_of(swept.path);
    if (is_within(place, folder)) return lies_in(folder, "which forebay clears");
  }
  for (fs::path at = place; at.has_relative_path(); at = at.parent_path()) {
    if (!is_of_a_store(at.filename().string())) continue;
    std::error_code error;
    if (fs::exists(at / "manifest.json", error)) return lies_in(at, "a checkpoint");
    for (const std::string& directory : inputs_.checkpoints) {
      if (at.parent_path() == find_.place_of(directory)) return lies_in(at, "a checkpoint's name");
    }
  }
  return {};
}

/// Refuses inputs in a swept folder: they would be removed with it.
Status Check::swept_inputs() {
  const auto refuse_input = [](const InputEntry& entry, const Output& output) {
    return fail(Code::kInvalid, entry.role + " " + entry.path + " lies in " + output.path +
                                    ", which forebay clears; move it, or give " + output.name +
                                    " another folder");
  };
  for (const Output& output : outputs_) {
    std::error_code error;
    const bool swept = output.kind == Kind::kSweptFolder || output.kind == Kind::kCheckpoints;
    if (!swept || !fs::is_directory(output.path, error)) continue;
    const fs::path folder = find_.place_of(output.path);
    for (const InputEntry& entry : inputs_.files) {
      for (const fs::path& place : {find_.folder_of(entry.path) / fs::path(entry.path).filename(),
                                    find_.place_of(entry.path)}) {
        if (!is_within(place, folder)) continue;
        const fs::path below = place.lexically_relative(folder);
        if (output.kind == Kind::kSweptFolder || is_of_a_store(below.begin()->string())) {
          return refuse_input(entry, output);
        }
      }
    }
  }
  return {};
}

Status Check::own_files(const Existing& there) const {
  for (const InputEntry& entry : with_checkpoint_files(inputs_).files) {
    const auto found = there.find(entry.file);
    if (found == there.end()) continue;
    const auto& [output, path] = found->second;
    if (may_replace(*output, path, entry)) continue;
    return refuse(*output, path,
                  same_file(path, entry.path) + "an input (" + entry.role + ")" + another(*output));
  }
  return {};
}

Status Check::files(const OtherRuns& others) const {
  const Existing there = existing_files(outputs_);
  if (there.empty()) return {};
  if (auto status = own_files(there); !status) return status;
  for (RunningInputs& other : others()) {
    for (const InputEntry& entry : with_checkpoint_files(std::move(other.inputs)).files) {
      const auto found = there.find(entry.file);
      if (found == there.end()) continue;
      const auto& [output, path] = found->second;
      // Another file may have replaced the input at this path since, and our file may have got its
      // inode.
      const auto now = regular_file_at(entry.path);
      if (now && *now != entry.file) continue;
      return refuse(*output, path,
                    same_file(path, entry.path) + "an input of process " +
                        std::to_string(other.process) + " (" + entry.role +
                        "); wait for it to end, or give " + output->name + " another file");
    }
  }
  return {};
}

}  // namespace

Status check_outputs(const std::vector<Output>& outputs, const Inputs& inputs,
                     const OtherRuns& others) {
  Check check(outputs, inputs);
  if (auto status = check.kinds(); !status) return status;
  if (auto status = check.files(others); !status) return status;
  if (auto status = check.twice(); !status) return status;
  if (auto status = check.folders(); !status) return status;
  return check.swept_inputs();
}

Status check_outputs(const std::vector<Output>& outputs, const Inputs& inputs) {
  return check_outputs(outputs, inputs, inputs_of_other_processes);
}

}  // namespace forebay
