#include "engine/convert/file_commits.h"

#include <chrono>
#include <utility>

namespace forebay {

Status FileCommits::add(std::unique_ptr<FileAside> file) {
  // A std::function is copied with what it holds, so the file is shared with it.
  const std::shared_ptr<FileAside> shared = std::move(file);
  return then([shared] { return shared->commit(Sync::kYes); });
}

Status FileCommits::then(std::function<Status()> work) {
  if (auto free = wait_for_fewer(kMost); !free) return free;
  progress_.change([](Progress& progress) { ++progress.open; });
  auto posted = worker_.post([this, work = std::move(work)] {
    const bool failed =
        progress_.change([](Progress& progress) { return progress.failed.has_value(); });
    const Status done = failed ? Status{} : work();
    progress_.change([&](Progress& progress) {
      --progress.open;
      if (!done && !progress.failed) progress.failed = done.error();
    });
  });
  if (!posted) progress_.change([](Progress& progress) { --progress.open; });
  return posted;
}

Status FileCommits::finish() { return wait_for_fewer(1); }

Status FileCommits::wait_for_fewer(std::size_t open) {
  std::optional<Error> failed;
  while (!progress_.wait(
      std::chrono::hours(1), [open](const Progress& progress) { return progress.open < open; },
      [&](const Progress& progress) { failed = progress.failed; })) {
  }
  if (failed) return tl::unexpected<Error>(*failed);
  return {};
}

}  // namespace forebay
