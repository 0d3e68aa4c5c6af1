#include <cstdio>

#include "tools/cluster/head_end.h"
#include "tools/command/commands.h"
#include "tools/job/quantity.h"
#include "tools/process/stop_request.h"

namespace forebay {
namespace {

void say(const std::string& line) { std::fprintf(stderr, "forebay: head: %s\n", line.c_str()); }

}  // namespace

Exit run_head(const Invocation& invocation) {
  HeadEnd::Options options;
  options.listen = invocation.value("--listen");
  options.store = invocation.value("--store");
  options.keys = invocation.value("--keys");
  options.say = say;
  if (options.listen.empty() || options.store.empty()) {
    return Exit::refused(
        "head needs --listen ADDR and --store DIR, as in head --listen tcp://10.0.0.1:29400 "
        "--store /var/lib/forebay");
  }
  if (const std::string lease = invocation.value("--lease"); !lease.empty()) {
    const auto time = parse_duration(lease);
    if (!time) return Exit::refused("--lease " + lease + ": must be a time, such as 5s");
    options.lease = *time;
  }
  auto head = HeadEnd::open(options);
  if (!head) return Exit::refused(head.error());
  std::printf("tcp://%s\n", (*head)->address().c_str());
  std::fflush(stdout);
  say("workers and trainers join at " + (*head)->address());
  (*head)->run([] { return StopRequest::requested(); });
  return Exit::stopped(StopRequest::signal());
}

}  // namespace forebay
