#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>

#include "engine/cluster/head_look.h"
#include "engine/metrics/status_report.h"
#include "engine/run/control_server.h"
#include "tools/command/commands.h"
#include "tools/command/run_folder.h"
#include "tools/process/stop_request.h"
#include "tools/terminal/status_page.h"

namespace forebay {
namespace {

constexpr int kBetweenLooksMs = 1000;
constexpr std::chrono::seconds kPatience(3);  // for a head that does not answer

/// Returns the job's or the head's answer in JSON; made from the command line.
using Look = std::function<Result<std::string>()>;

Result<Look> look_of(const Invocation& invocation) {
  const std::string address = invocation.value("--join");
  if (!invocation.has("--join")) {
    if (invocation.has("--keys")) return fail(Code::kInvalid, "--keys: goes with --join only");
    return Look([folder = run_folder(invocation)] { return ask_to_look(folder); });
  }
  if (invocation.has("--dir")) {
    return fail(Code::kInvalid, "--join, --dir: give one of them, a head's address or a folder");
  }
  auto head = HeadLook::open(address, invocation.value("--keys"));
  if (!head) return pass(head);
  return Look([head = std::shared_ptr<HeadLook>(std::move(*head))]() -> Result<std::string> {
    auto cluster = head->look(kPatience);
    if (!cluster) return pass(cluster);
    return status_of(*cluster).text();
  });
}

// A stopped or stuck job answers late or never.
Result<std::string> look_once(const Look& look) {
  const StopRequest::AtOnce waiting;
  return look();
}

Exit nobody(const Error& error) {
  return error.code == Code::kNotFound ? Exit::refused(error) : Exit::failed(error);
}

}  // namespace

Exit run_status(const Invocation& invocation) {
  auto look = look_of(invocation);
  if (!look) return Exit::refused(look.error());
  auto now = look_once(*look);
  if (!now) return nobody(now.error());
  if (invocation.has("--json")) {
    std::printf("%s\n", now->c_str());
    return Exit::done();
  }
  auto page = status_page("", *now);
  if (!page) return Exit::failed(page.error());
  std::fputs(page->c_str(), stdout);
  return Exit::done();
}

Exit run_top(const Invocation& invocation) {
  auto look = look_of(invocation);
  if (!look) return Exit::refused(look.error());
  const bool on_terminal = ::isatty(STDOUT_FILENO) == 1;
  std::string before;
  while (!StopRequest::requested()) {
    auto now = look_once(*look);
    // A job that answered before and does not answer now has ended.
    if (!now) return before.empty() ? nobody(now.error()) : Exit::done();
    auto page = status_page(before, *now);
    if (!page) return Exit::failed(page.error());
    std::printf("%s%s%s", on_terminal ? "\033[H\033[2J" : "", page->c_str(),
                on_terminal ? "" : "\n");
    std::fflush(stdout);
    before = std::move(*now);
    // The pause between two queries; a signal ends it.
    ::poll(nullptr, 0, kBetweenLooksMs);
  }
  return Exit::stopped(StopRequest::signal());
}

}  // namespace forebay
