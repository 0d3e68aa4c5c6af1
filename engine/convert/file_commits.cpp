#include "engine/convert/file_commits.h"

#include <string_view>
#include <utility>

#include "core/runtime/actor.h"

namespace forebay {

/// Owner → actor: the next thing to do.
struct FileCommits::Step {
  static constexpr std::string_view kTag = "convert.commit_step/1";
  std::function<Status()> work;
};

/// The first failure is its end: what follows would be named without what belongs before it.
class FileCommits::Committing final : public ActorOf<Committing, Step> {
 public:
  Status on(Step&& step, Context& context) {
    const auto work = std::move(step.work);  // What it holds goes before the answer.
    Status done = work();
    if (!done) context.stop();
    return done;
  }
};

FileCommits::FileCommits()
    : threads_(clock_), actor_(threads_.spawn({.name = "naming files"}, [] {
        return std::make_unique<Committing>();
      })) {}

Status FileCommits::add(std::unique_ptr<FileAside> file) {
  // A std::function is copied with what it holds, so the file is shared with it.
  const std::shared_ptr<FileAside> shared = std::move(file);
  return then([shared] { return shared->commit(Sync::kYes); });
}

Status FileCommits::then(std::function<Status()> work) {
  if (auto free = wait_for_fewer(kMost); !free) return free;
  open_.push_back(ask(actor_, Step{std::move(work)}));
  return {};
}

Status FileCommits::wait_for_fewer(std::size_t open) {
  while (!open_.empty() && (open_.size() >= open || open_.front().ready())) {
    auto done = open_.front().wait();
    open_.pop_front();
    if (!done && !failed_) failed_ = done.error();
  }
  if (failed_) return tl::unexpected<Error>(*failed_);
  return {};
}

}  // namespace forebay
