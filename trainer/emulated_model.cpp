#include "trainer/emulated_model.h"

#include <poll.h>

#include <ctime>
namespace forebay {
namespace {

Status refuse_scores() {
  return fail(Code::kInvalid,
              "trainer.evaluate: only a model that learns can be evaluated; "
              "leave it out, or set trainer.model to \"dlrm\"");
}

}  // namespace

Result<double> EmulatedModel::step(const Batch&) {
  pause_(step_);
  return 0;
}

Status EmulatedModel::predict(const Batch&, std::span<float>) { return refuse_scores(); }

void EmulatedModel::wait(std::chrono::nanoseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  const timespec timeout = {.tv_sec = seconds.count(), .tv_nsec = (time - seconds).count()};
  ppoll(nullptr, 0, &timeout, nullptr);
}

Result<double> NoModel::step(const Batch&) { return 0; }

Status NoModel::predict(const Batch&, std::span<float>) { return refuse_scores(); }

}  // namespace forebay
