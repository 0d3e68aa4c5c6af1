#include "tools/command/arguments.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include "actors/input/file_system.h"
#include "core/base/whole_file.h"
#include "core/net/host_port.h"
#include "engine/job/job_file.h"
#include "engine/job/quantity.h"
#include "engine/outputs/outputs.h"
#include "engine/process/machine.h"
#include "tools/process/paths.h"
#include "tools/process/standard_streams.h"

namespace forebay {
namespace {

constexpr std::size_t kHeadBytes = 128;

JobDefaults defaults_here() {
  return {.cpus = available_cpus(), .memory_bytes = available_memory() / 2};
}

/// Returns the assignments of `--set`, and what other options assign.
std::vector<std::string> sets_of(const Invocation& invocation) {
  std::vector<std::string> sets = invocation.values("--set");
  if (invocation.has("--dashboard")) {
    sets.push_back("run.dashboard=" + invocation.value("--dashboard"));
  }
  return sets;
}

/// Refuses `--dashboard 8265` in terms of the option; the key of the job file would be named else.
Status check_dashboard(const Invocation& invocation) {
  const std::string address = invocation.value("--dashboard");
  if (address.empty() || parse_address(address)) return {};
  return fail(Code::kInvalid,
              "--dashboard " + address + ": give HOST:PORT, such as 127.0.0.1:8265");
}

}  // namespace

std::string Invocation::value(const std::string& option, const std::string& otherwise) const {
  const auto found = options.find(option);
  return found == options.end() || found->second.empty() ? otherwise : found->second.back();
}

std::vector<std::string> Invocation::values(const std::string& option) const {
  const auto found = options.find(option);
  return found == options.end() ? std::vector<std::string>() : found->second;
}

std::optional<std::uint64_t> OptionReader::count_in(const std::string& text, std::uint64_t low,
                                                    std::uint64_t high) {
  const auto count = parse_count(text);
  return count && *count >= low && *count <= high ? count : std::nullopt;
}

std::string OptionReader::range_text(std::uint64_t low, std::uint64_t high) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();  // of parse_count()
  return "a whole number from " + std::to_string(low) + " to " +
         std::to_string(std::min(high, kMost));
}

OptionReader& OptionReader::port(const std::string& option, std::uint16_t& into,
                                 std::uint64_t lowest) {
  return value(option, into, "a port, from 1 to 65535",
               [=](const std::string& text) { return count_in(text, lowest, 65535); });
}

OptionReader& OptionReader::command(std::string& into) {
  return value("--command", into, "train or ingest", [](const std::string& text) {
    return text == "train" || text == "ingest" ? std::optional(text) : std::nullopt;
  });
}

Result<JobSpec> open_job(const Invocation& invocation) {
  if (auto dashboard = check_dashboard(invocation); !dashboard) return pass(dashboard);
  const std::string path = FileSystems().full_path(invocation.arguments.front(), "");
  if (path.find("://") != std::string::npos) {
    return fail(Code::kInvalid, "job file " + path +
                                    ": a job file is read from this machine alone; give its path "
                                    "(or file:///PATH)");
  }
  return load_job(path, sets_of(invocation), defaults_here());
}

Result<JobSpec> open_job(const Invocation& invocation, std::string text) {
  return parse_job(std::move(text), invocation.arguments.front(), invocation.values("--set"),
                   defaults_here());
}

std::string run_folder_in(const std::string& folder) {
  const std::string inside = folder + "/.forebay";
  std::error_code error;
  return std::filesystem::is_directory(inside, error) ? inside : folder;
}

Status check_replaced(const std::string& path, const std::string& what, const IsOwnFile& is_own) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  std::array<char, kHeadBytes> head{};
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), head.size());
  const std::string_view begin(head.data(), static_cast<std::size_t>(file.gcount()));
  if (begin.empty() || is_own(begin)) return {};
  return fail(Code::kInvalid, "--out " + path + " is there, and is not " + what +
                                  ": name another file, or remove this one first");
}

Status check_out_file(const std::string& path, const std::string& what, const IsOwnFile& is_own) {
  if (auto place = check_output_path("--out", path); !place) return place;
  const std::vector<Output> out{{.name = "--out", .path = path, .aside = kAside}};
  if (auto inputs = check_outputs(out, {}); !inputs) return inputs;
  return check_replaced(path, what, is_own);
}

Exit print_result(const Invocation& invocation, const JsonObject& json,
                  const std::function<void()>& print_text) {
  if (invocation.has("--json")) {
    print_json(json);
  } else {
    print_text();
  }
  return Exit::done();
}

void print_stop(const Invocation& invocation, const Exit& exit) {
  if (exit.status <= 128 || !invocation.has("--json") || has_printed_json()) return;
  print_json(JsonObject().add("stopped", true));
}

}  // namespace forebay
