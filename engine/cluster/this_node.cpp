#include "engine/cluster/this_node.h"

#include <unistd.h>

#include <array>

#include "actors/transform/transform.h"
#include "core/data/digest.h"
#include "core/net/host_port.h"

namespace forebay {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

std::string reachable(const std::string& address) {
  auto place = parse_address(address);
  if (!place) return address;
  const bool everywhere = place->host == "0.0.0.0" || place->host == "::" || place->host == "*";
  if (everywhere) place->host = host_name();
  return place->text();
}

std::string program_version() { return FOREBAY_VERSION; }

std::string operators_digest() {
  std::string text;
  for (const OpDescription& op : describe_ops()) text.append(op.name).append(1, '\n');
  return Digest::of(text.data(), text.size()).hex();
}

scheduler::WorkerOptions worker_here(const std::string& name) {
  scheduler::WorkerOptions options;
  options.name = name;
  options.host = host_name();
  options.pid = static_cast<std::uint64_t>(::getpid());
  options.version = program_version();
  options.operators = operators_digest();
  return options;
}

}  // namespace forebay
