#include <array>
#include <chrono>

#include "core/base/text/nearest.h"
#include "engine/job/job_document.h"
#include "engine/job/job_keys.h"
#include "engine/job/quantity.h"
#include "engine/process/memory_use.h"
#include "engine/run/tuning.h"

namespace forebay {
namespace {

constexpr std::array<std::string_view, 5> kSettable{"pipeline.cpus", "pipeline.memory",
                                                    "trainer.threads", "tuner.mode",
                                                    "transform.N.microseconds"};
/// How long an answer waits until memory use has gone down.
constexpr std::chrono::milliseconds kPatience{1500};

tl::unexpected<Error> not_settable(const std::string& key) {
  return fail(Code::kInvalid,
              key + " cannot be changed while a job runs" + did_you_mean(key, kSettable) +
                  "; pipeline.cpus, pipeline.memory, trainer.threads, tuner.mode and "
                  "transform.N.microseconds can; N counts from 0");
}

/// Returns the number in `transform.3.microseconds`, also called `transform.3.cost`.
std::optional<std::uint64_t> operator_number(const std::string& key) {
  constexpr std::string_view kPrefix = "transform.";
  if (!key.starts_with(kPrefix)) return std::nullopt;
  const std::string_view rest = std::string_view(key).substr(kPrefix.size());
  const std::size_t dot = rest.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view name = rest.substr(dot + 1);
  if (name != "microseconds" && name != "cost") return std::nullopt;
  return parse_count(rest.substr(0, dot));
}

/// Returns a job with the value at its key.
Result<JobSpec> job_with(const std::string& key, const std::string& value) {
  JobDocument document;
  if (auto read = apply_set(document, key + "=" + value); !read) return pass(read);
  document.values.at(key).where = "set";
  JobSpec job;
  if (auto known = read_keys(document, job); !known) return pass(known);
  return job;
}

}  // namespace

Result<std::string> Tuning::set(const std::string& key, const std::string& value) {
  if (const auto number = operator_number(key)) return set_cost(*number, value);
  if (key.find('=') != std::string::npos || key.starts_with("transform.") ||
      key.starts_with(kAllocationKey)) {
    return not_settable(key);
  }
  auto job = job_with(key, value);
  if (!job) return pass(job);
  if (key == "tuner.mode") return set_mode(value);
  if (key == "trainer.threads") return set_threads(job->trainer.threads);
  if (key == "pipeline.cpus") {
    const int cpus = job->pipeline.cpus;
    if (auto status = tuned_pipeline_.set_cpus(cpus); !status) return pass(status);
    const int given = static_cast<int>(tuned_pipeline_.limits().cpus);
    return "pipeline.cpus = " + std::to_string(given) +
           (given < cpus ? ": the process may use no more" : "");
  }
  if (key == "pipeline.memory") return set_memory(job->pipeline.memory_bytes);
  return not_settable(key);
}

Result<std::string> Tuning::set_threads(int threads) {
  return turning_([&]() -> Result<std::string> {
    if (set_threads_) return set_threads_(threads);
    return fail(Code::kInvalid, "trainer.threads: no model is trained here");
  });
}

Result<std::string> Tuning::set_mode(const std::string& value) {
  const tuner::Mode mode = tuner::mode_named(value);
  if (auto told = tuner_.tell(tuner::SetMode{mode}); !told) {
    return fail(Code::kUnavailable, "tuner.mode: the tuner of this run has ended");
  }
  mode_ = mode;
  return "tuner.mode = " + value;
}

Result<std::string> Tuning::set_memory(std::uint64_t bytes) {
  if (auto status = tuned_pipeline_.set_memory(bytes); !status) return pass(status);
  const bool whole = job_.run.owns_process;
  const std::uint64_t used = whole ? await_resident(bytes, kPatience) : run_.used_bytes();
  return "pipeline.memory = " + format_size(bytes) + (whole ? "; resident " : "; accounted ") +
         format_size(used) + (used > bytes ? ", going down as splits and batches are used up" : "");
}

Result<std::string> Tuning::set_cost(std::size_t number, const std::string& value) {
  const std::string key = "transform." + std::to_string(number) + ".microseconds";
  char* end = nullptr;
  const double microseconds = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != '\0') {
    return fail(Code::kInvalid, key + " is \"" + value.substr(0, 60) + "\", but must be a number");
  }
  if (auto status = run_.plan().set_cost(number, microseconds); !status) return pass(status);
  return key + " = " + value;
}

}  // namespace forebay
