#include "engine/ranks/rank_environment.h"

#include <string_view>

#include "core/net/host_port.h"
#include "engine/process/environment_number.h"

namespace forebay {
namespace {

constexpr int kMostRanks = 4096;

Result<int> number_of(const std::string& name, std::string_view text, int least, int most) {
  return environment_number(name, text, static_cast<std::uint64_t>(least),
                            static_cast<std::uint64_t>(most))
      .map([](std::uint64_t number) { return static_cast<int>(number); });
}

std::string text_of(const RankEnvironment::Variables& variable, const char* name) {
  const char* value = variable(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Result<std::optional<RankEnvironment>> RankEnvironment::read(const Variables& variable) {
  const std::string rank = text_of(variable, "RANK");
  const std::string size = text_of(variable, "WORLD_SIZE");
  if (rank.empty() && size.empty()) return std::optional<RankEnvironment>();
  const auto missing = [](const std::string& name, const std::string& because) {
    return fail(Code::kInvalid, because + " is set in the environment and " + name +
                                    " is not: start all trainers with a launcher such as "
                                    "torchrun, or unset both for one trainer");
  };
  if (size.empty()) return missing("WORLD_SIZE", "RANK");
  RankEnvironment found;
  auto ranks = number_of("WORLD_SIZE", size, 1, kMostRanks);
  if (!ranks) return pass(ranks);
  if (rank.empty() && *ranks > 1) return missing("RANK", "WORLD_SIZE");
  auto own = number_of("RANK", rank.empty() ? "0" : rank, 0, *ranks - 1);
  if (!own) return pass(own);
  if (*ranks == 1) return std::optional<RankEnvironment>();
  found.size = *ranks;
  found.rank = *own;
  found.local_rank = *own;
  if (const auto local = text_of(variable, "LOCAL_RANK"); !local.empty()) {
    auto value = number_of("LOCAL_RANK", local, 0, *ranks - 1);
    if (!value) return pass(value);
    found.local_rank = *value;
  }
  found.host = text_of(variable, "MASTER_ADDR");
  if (found.host.empty()) return missing("MASTER_ADDR", "WORLD_SIZE");
  if (found.host_is_local()) found.local_size = *ranks;
  if (const auto local = text_of(variable, "LOCAL_WORLD_SIZE"); !local.empty()) {
    auto value = number_of("LOCAL_WORLD_SIZE", local, 1, *ranks);
    if (!value) return pass(value);
    found.local_size = *value;
    found.one_machine = *value == *ranks;
  }
  const std::string port_text = text_of(variable, "MASTER_PORT");
  if (port_text.empty()) return missing("MASTER_PORT", "WORLD_SIZE");
  auto port = number_of("MASTER_PORT", port_text, 1, 65535);
  if (!port) return pass(port);
  found.port = static_cast<std::uint16_t>(*port);
  found.launcher_store = text_of(variable, "TORCHELASTIC_USE_AGENT_STORE") == "True";
  found.group = "forebay/" + text_of(variable, "TORCHELASTIC_RUN_ID") + "/" +
                text_of(variable, "TORCHELASTIC_RESTART_COUNT");
  return std::optional<RankEnvironment>(found);
}

bool RankEnvironment::host_is_local() const { return is_loopback(host) || host == "localhost"; }

CollectiveSpec RankEnvironment::meeting(std::chrono::milliseconds timeout,
                                        const std::string& device) const {
  return {.rank = rank,
          .size = size,
          .host = host,
          .port = port,
          .opens_store = rank == 0 && !launcher_store,
          .group = group,
          .timeout = timeout,
          .device = device};
}

}  // namespace forebay
