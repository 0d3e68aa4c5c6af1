#include "engine/actors/cluster/directory/node_room.h"

#include "core/base/text/mib.h"

namespace forebay {
namespace {

/// How far `need` beside `taken` goes beyond `all`.
std::uint64_t beyond(std::uint64_t taken, std::uint64_t need, std::uint64_t all) {
  return need == 0 || taken + need <= all ? 0 : taken + need - all;
}

std::string format_cpus(std::uint64_t thousandths) {
  std::string text = std::to_string(thousandths / 1000);
  if (thousandths % 1000 == 0) return text;
  text += '.' + std::to_string(1000 + thousandths % 1000).substr(1);
  return text.substr(0, text.find_last_not_of('0') + 1);
}

}  // namespace

std::string NodeRoom::missing(const ActorSpec& spec) const {
  return format_needs(beyond(taken_cpus_, spec.cpu_thousandths, cpus_),
                      beyond(taken_memory_, spec.memory_bytes, memory_));
}

std::string format_needs(std::uint64_t cpu_thousandths, std::uint64_t memory_bytes) {
  std::string text;
  if (cpu_thousandths > 0) text = format_cpus(cpu_thousandths) + " CPUs";
  if (memory_bytes > 0) text += (text.empty() ? "" : " and ") + in_mib(memory_bytes);
  return text.empty() ? "nothing" : text;
}

}  // namespace forebay
