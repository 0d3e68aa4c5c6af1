#include "tools/symmetric/launched_process.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/text/number.h"
#include "core/data/digest.h"
#include "engine/job/quantity.h"

namespace forebay {
namespace {

constexpr std::size_t kMostHosts = 65536;
constexpr std::size_t kMostDigits = 9;

using Names = std::vector<std::string>;

Result<std::uint32_t> number(std::string_view digits) {
  const auto value = parse_number<std::uint32_t>(digits);
  if (value && digits.size() <= kMostDigits) return *value;
  return fail(Code::kInvalid, "\"" + std::string(digits) + "\" is no number");
}

std::string padded(std::uint32_t value, std::size_t width) {
  std::string digits = std::to_string(value);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return digits;
}

// Parses `01-03` or `7`; all numbers are as wide as the first one.
Status append_range(std::string_view range, Names& numbers) {
  const std::size_t dash = std::min(range.find('-'), range.size());
  const std::string_view first_digits = range.substr(0, dash);
  auto first = number(first_digits);
  if (!first) return pass(first);
  auto last = dash == range.size() ? first : number(range.substr(dash + 1));
  if (!last) return pass(last);
  if (*last < *first) return fail(Code::kInvalid, std::string(range) + " runs backwards");
  if (*last - *first >= kMostHosts || numbers.size() + *last - *first >= kMostHosts) {
    return fail(Code::kInvalid, "it names more than 65536 hosts");
  }
  for (std::uint32_t value = *first; value <= *last; ++value) {
    numbers.push_back(padded(value, first_digits.size()));
  }
  return {};
}

Result<Names> bracket_numbers(std::string_view inside) {
  Names numbers;
  while (true) {
    const std::size_t comma = std::min(inside.find(','), inside.size());
    if (auto status = append_range(inside.substr(0, comma), numbers); !status) return pass(status);
    if (comma == inside.size()) return numbers;
    inside.remove_prefix(comma + 1);
  }
}

Result<Names> times(const Names& names, const Names& ends) {
  if (names.size() * ends.size() > kMostHosts) {
    return fail(Code::kInvalid, "it names more than 65536 hosts");
  }
  Names products;
  products.reserve(names.size() * ends.size());
  for (const std::string& name : names) {
    for (const std::string& end : ends) products.push_back(name + end);
  }
  return products;
}

// Expands one item: text and brackets alternate.
Result<Names> expand_item(std::string_view item) {
  Names names = {""};
  while (!item.empty()) {
    const bool bracket = item.front() == '[';
    const std::size_t end = bracket ? item.find(']') : std::min(item.find('['), item.size());
    if (end == std::string_view::npos) return fail(Code::kInvalid, "a bracket is left open");
    Names ends = {std::string(item.substr(0, end))};
    if (bracket) {
      auto numbers = bracket_numbers(item.substr(1, end - 1));
      if (!numbers) return pass(numbers);
      ends = std::move(*numbers);
    }
    auto longer = times(names, ends);
    if (!longer) return pass(longer);
    names = std::move(*longer);
    item.remove_prefix(bracket ? end + 1 : end);
  }
  return names;
}

// Returns the position of the next comma outside of brackets.
std::size_t item_end(std::string_view list) {
  bool inside = false;
  for (std::size_t at = 0; at < list.size(); ++at) {
    if (list[at] == '[' || list[at] == ']') inside = list[at] == '[';
    if (list[at] == ',' && !inside) return at;
  }
  return list.size();
}

/// The environment variables of one launcher; an empty name: the launcher has no such variable.
struct Launcher {
  std::string_view name;
  const char* rank;
  const char* processes;
  const char* job;
  const char* local_processes;
};

constexpr std::array kLaunchers = {
    Launcher{"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE",
             "OMPI_COMM_WORLD_LOCAL_SIZE"},
    Launcher{"torchrun", "RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID", "LOCAL_WORLD_SIZE"},
    Launcher{"srun", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_JOB_ID", ""},
    Launcher{"mpirun", "PMI_RANK", "PMI_SIZE", "PMI_ID", "MPI_LOCALNRANKS"},
    Launcher{"Indexed Job", "JOB_COMPLETION_INDEX", "", "JOB_NAME", ""},
};

Result<std::uint64_t> number(const char* name, const std::string& text) {
  constexpr std::uint64_t kMost = 1'000'000;
  auto value = environment_number(name, text, 0, kMost);
  if (!value) return fail(value.error().code, "symmetric-run: " + value.error().message);
  return value;
}

// srun's step may use only some of the job's nodes; mpirun inside Slurm starts on the job's first
// node.
Status add_slurm_hosts(const Variables& variables, LaunchedProcess& placement) {
  auto list = variables("SLURM_STEP_NODELIST");
  if (!list || list->empty()) list = variables("SLURM_JOB_NODELIST");
  if (!list || list->empty()) return {};
  auto hosts = expand_hosts(*list);
  if (!hosts) return pass(hosts);
  placement.first_host = hosts->front();
  placement.one_host = hosts->size() == 1;
  return {};
}

Status add_hosts(const Variables& variables, const Launcher& launcher, LaunchedProcess& placement) {
  if (auto address = variables("MASTER_ADDR"); launcher.name == "torchrun" && address) {
    placement.first_host = *address;
  } else if (auto status = add_slurm_hosts(variables, placement); !status) {
    return status;
  }
  if (*launcher.local_processes == '\0' || placement.processes == 0) return {};
  if (auto local = variables(launcher.local_processes)) {
    auto count = number(launcher.local_processes, *local);
    if (!count) return pass(count);
    placement.one_host = *count == placement.processes;
  }
  return {};
}

Result<LaunchedProcess> read(const Variables& variables, const Launcher& launcher,
                             const std::string& rank) {
  LaunchedProcess placement;
  placement.launcher = launcher.name;
  auto own = number(launcher.rank, rank);
  if (!own) return pass(own);
  placement.rank = *own;
  if (auto all = variables(launcher.processes); all && *launcher.processes != '\0') {
    auto count = number(launcher.processes, *all);
    if (!count) return pass(count);
    if (placement.rank >= *count) {
      return fail(Code::kInvalid, "symmetric-run: " + std::string(launcher.rank) + "=" + rank +
                                      ", but " + launcher.processes + "=" + *all);
    }
    placement.processes = *count;
  }
  if (auto job = variables("SLURM_JOB_ID")) placement.job = *job;
  if (auto job = variables(launcher.job)) placement.job = *job;
  if (auto step = variables("SLURM_STEP_ID"); step && launcher.name == "srun") {
    placement.job += "." + *step;
  }
  if (auto status = add_hosts(variables, launcher, placement); !status) return pass(status);
  return placement;
}

}  // namespace

Result<std::vector<std::string>> expand_hosts(std::string_view list) {
  const auto refuse = [whole = std::string(list.substr(0, 200))](const std::string& why) {
    return fail(Code::kInvalid, "node list " + whole + ": " + why);
  };
  Names hosts;
  while (true) {
    const std::size_t end = item_end(list);
    if (end == 0) return refuse("a name is empty");
    auto names = expand_item(list.substr(0, end));
    if (!names) return refuse(names.error().message);
    if (hosts.size() + names->size() > kMostHosts) return refuse("it names more than 65536 hosts");
    hosts.insert(hosts.end(), names->begin(), names->end());
    if (end == list.size()) return hosts;
    list.remove_prefix(end + 1);
  }
}

Result<LaunchedProcess> placement_in(const Variables& variables) {
  for (const Launcher& launcher : kLaunchers) {
    if (auto rank = variables(launcher.rank)) return read(variables, launcher, *rank);
  }
  return fail(Code::kInvalid,
              "symmetric-run finds no launcher's variables (SLURM_PROCID, OMPI_COMM_WORLD_RANK, "
              "PMI_RANK, RANK, JOB_COMPLETION_INDEX): start it by srun, mpirun, torchrun or an "
              "Indexed Job; on one machine, forebay train does");
}

std::uint16_t port_of(const LaunchedProcess& placement) {
  const Digest digest = Digest::of(placement.job.data(), placement.job.size());
  return static_cast<std::uint16_t>(20000 + digest.low % 10000);
}

}  // namespace forebay
