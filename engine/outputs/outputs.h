#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "engine/outputs/inputs.h"

namespace forebay {

/// A file or folder that a command writes to.
struct Output {
  enum class Kind : std::uint8_t {
    kFile,
    kFolder,       ///< New files are written into it.
    kSweptFolder,  ///< Forebay's own: a run may remove or replace any file in it.
    kCheckpoints,  ///< A CheckpointStore's directory: it removes files with a checkpoint's name.
  };

  std::string name;  ///< The option or key: "--dump", "trainer.csv".
  std::string path;
  Kind kind = Kind::kFile;
  std::string aside = {};     ///< Of kFile: it is written to `path` + `aside` first; "": in place.
  std::string replaces = {};  ///< Role of an input that it may replace: "--resume" for "--state".
};

/// Refuses (kInvalid, in one sentence that names the output, its path, the input and what to do)
///
/// - an output that is one of `inputs`, or an input of another process, by any link;
/// - an output inside a checkpoint, in a folder of `inputs.folders`, or in a folder that runs
/// sweep;
/// - an input inside a folder that this command sweeps;
/// - two outputs that are one file, and a folder where a file is wanted or the other way round.
///
/// Devices and pipes are never inputs. Reads the inputs of other processes only if an output exists
/// already, since a new file cannot be an input. Changes nothing.
Status check_outputs(const std::vector<Output>& outputs, const Inputs& inputs,
                     const std::function<std::vector<RunningInputs>()>& others);

/// Does the same with the inputs of all other processes of this machine.
Status check_outputs(const std::vector<Output>& outputs, const Inputs& inputs);

}  // namespace forebay
