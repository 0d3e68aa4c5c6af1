#pragma once

#include <sched.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/python/child_answer.h"
#include "actors/python/child_process.h"
#include "actors/python/shared_memory.h"
#include "core/base/result.h"

namespace forebay {

/// A function in Python, how a process finds it, and the names of its columns.
struct PythonFunction {
  std::string name;         ///< "package.module:name".
  std::string pickled;      ///< The function by value, in base64; "": it is imported by its name.
  std::string interpreter;  ///< "": that of the environment (interpreter_of).
  std::vector<std::string> path;  ///< Folders that come first when modules are looked for.
  std::vector<std::string> dense;
  std::vector<std::string> sparse;
  std::vector<std::string> new_dense;
  std::vector<std::string> new_sparse;
};

/// The interpreter that runs a function: its own, else FOREBAY_PYTHON, else python3 of PATH.
std::string interpreter_of(const PythonFunction& function);

/// The columns of one call, each of `rows` rows, in the order of the function's names. The call
/// copies them.
struct PythonRows {
  struct Lists {
    const std::int64_t* values = nullptr;
    const std::int32_t* offsets = nullptr;  ///< Of rows + 1 entries; null: one id a row.
  };
  std::size_t rows = 0;
  std::vector<const float*> dense = {};
  std::vector<Lists> sparse = {};
  std::size_t most_ids = 0;  ///< Of each new sparse column.

  std::size_t ids(std::size_t sparse_column) const;
  /// The bytes of shared memory that a call takes.
  static std::size_t bytes(std::size_t dense_columns, std::size_t lists, std::size_t rows,
                           std::size_t ids);
};

/// The result of a call. Pointers are into memory that the child can write, and valid until the
/// next call.
struct PythonResult {
  struct Lists {
    const std::int64_t* values = nullptr;
    const std::int32_t* lengths = nullptr;  ///< Not checked.
    std::size_t ids = 0;
  };
  std::vector<const float*> dense = {};
  std::vector<Lists> sparse = {};
};

/// How a call ended.
struct PythonOutcome {
  enum class Kind : std::uint8_t { kDone, kRaised, kRefused, kDied, kCancelled };

  Kind kind = Kind::kDone;
  std::string text = {};  ///< Unless kDone: what happened.
  PythonResult result = {};
};

/// A child process that runs one function: `INTERPRETER -m forebay._child`.
///
/// Belongs to the thread that started it, and ends with it. Rows and results go through shared
/// memory; a call is one message each way. Move-only.
class FunctionProcess {
 public:
  /// Starts the process and imports the function. kInvalid says why that cannot be, and what to do;
  /// kUnavailable: the system lacks a process, memory or files, or somebody killed the process.
  /// Waits as long as the import takes, at most kPatience, or until `cancelled` (may be empty).
  static Result<FunctionProcess> start(const PythonFunction& function,
                                       const std::function<bool()>& cancelled);
  static constexpr std::chrono::minutes kPatience{5};

  /// Calls the function. After kDied and kCancelled the process is gone. kUnavailable: no memory.
  Result<PythonOutcome> call(const PythonRows& rows, const std::function<bool()>& cancelled);

  pid_t id() const { return process_.id(); }

 private:
  enum class Wait : std::uint8_t { kDone, kClosed, kCancelled, kTimeout };

  /// An answer, or why there is none.
  struct Heard {
    Wait wait = Wait::kDone;
    std::optional<ChildAnswer> answer = {};
    std::string fault = {};
  };

  FunctionProcess(ChildProcess process, SharedMemory memory)
      : process_(std::move(process)), memory_(std::move(memory)) {}

  bool send(ChildRequest kind, std::span<const char> payload);
  Heard hear(std::span<const std::uint64_t> most_ids, const std::function<bool()>& cancelled,
             std::optional<std::chrono::steady_clock::time_point> deadline);
  Wait receive(std::span<char> to, const std::function<bool()>& cancelled,
               std::optional<std::chrono::steady_clock::time_point> deadline);
  Status import(const PythonFunction& function, const std::function<bool()>& cancelled);
  void follow_affinity();
  PythonOutcome died();

  ChildProcess process_;
  SharedMemory memory_;
  std::uint64_t number_ = 0;  // of the last request
  std::size_t new_dense_ = 0;
  std::size_t new_sparse_ = 0;
  cpu_set_t cpus_{};  // of the process
};

}  // namespace forebay
