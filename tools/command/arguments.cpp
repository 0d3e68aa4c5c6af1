#include "tools/command/arguments.h"

#include <filesystem>
#include <limits>
#include <utility>

#include "engine/job/job_file.h"
#include "engine/job/quantity.h"
#include "engine/process/machine.h"

namespace forebay {
namespace {

JobDefaults defaults_here() {
  return {.cpus = available_cpus(), .memory_bytes = available_memory() / 2};
}

}  // namespace

Result<JobSpec> open_job(const Invocation& invocation) {
  return load_job(invocation.arguments.front(), invocation.values("--set"), defaults_here());
}

Result<JobSpec> open_job(const Invocation& invocation, std::string text) {
  return parse_job(std::move(text), invocation.arguments.front(), invocation.values("--set"),
                   defaults_here());
}

Result<std::uint64_t> count_of(const Invocation& invocation, const std::string& option,
                               std::uint64_t low, std::uint64_t high, std::uint64_t otherwise) {
  if (!invocation.has(option)) return otherwise;
  const auto count = parse_count(invocation.value(option));
  if (count && *count >= low && *count <= high) return *count;
  const bool bounded = high < std::numeric_limits<std::uint64_t>::max();
  return fail(Code::kInvalid,
              option + " " + invocation.value(option) + ": must be a whole number " +
                  (bounded ? "from " + std::to_string(low) + " to " + std::to_string(high)
                           : "of at least " + std::to_string(low)));
}

std::string run_folder_in(const std::string& folder) {
  const std::string inside = folder + "/.forebay";
  std::error_code error;
  return std::filesystem::is_directory(inside, error) ? inside : folder;
}

}  // namespace forebay
