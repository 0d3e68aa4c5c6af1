#include "engine/ranks/rank_environment.h"

#include <type_traits>

#include "core/net/host_port.h"
#include "engine/job/quantity.h"

namespace forebay {
namespace {

constexpr int kMostRanks = 4096;

std::string text_of(const RankEnvironment::Variables& variable, const char* name) {
  const char* value = variable(name);
  return value == nullptr ? "" : value;
}

/// Reads the number of a variable that may be missing; then `into` keeps its value.
Status read_number(const RankEnvironment::Variables& variable, const char* name, int least,
                   int most, auto& into) {
  const std::string text = text_of(variable, name);
  if (text.empty()) return {};
  auto number = environment_number(name, text, static_cast<std::uint64_t>(least),
                                   static_cast<std::uint64_t>(most));
  if (!number) return pass(number);
  into = static_cast<std::remove_reference_t<decltype(into)>>(*number);
  return {};
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
  const auto take = [&](const char* name, int least, int most, auto& into) {
    return read_number(variable, name, least, most, into);
  };
  if (auto read = take("WORLD_SIZE", 1, kMostRanks, found.size); !read) return pass(read);
  if (rank.empty() && found.size > 1) return missing("RANK", "WORLD_SIZE");
  if (auto read = take("RANK", 0, found.size - 1, found.rank); !read) return pass(read);
  if (found.size == 1) return std::optional<RankEnvironment>();
  found.local_rank = found.rank;
  if (auto read = take("LOCAL_RANK", 0, found.size - 1, found.local_rank); !read) return pass(read);
  found.host = text_of(variable, "MASTER_ADDR");
  if (found.host.empty()) return missing("MASTER_ADDR", "WORLD_SIZE");
  if (found.host_is_local()) found.local_size = found.size;
  int on_this_machine = 0;
  if (auto read = take("LOCAL_WORLD_SIZE", 1, found.size, on_this_machine); !read)
    return pass(read);
  if (on_this_machine > 0) found.local_size = on_this_machine;
  found.one_machine = on_this_machine == found.size;
  if (text_of(variable, "MASTER_PORT").empty()) return missing("MASTER_PORT", "WORLD_SIZE");
  if (auto read = take("MASTER_PORT", 1, 65535, found.port); !read) return pass(read);
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
