#include "trainer/emulated_model.h"

#include <poll.h>

#include <ctime>
namespace forebay {

Result<double> EmulatedModel::step(const Batch&) {
  if (step_.count() > 0) pause_(step_);
  return 0;
}

Status EmulatedModel::predict(const Batch&, std::span<float>) {
  return fail(Code::kInvalid,
              "trainer.evaluate: only a model that learns can be evaluated; "
              "leave it out, or set trainer.model to \"dlrm\"");
}

void EmulatedModel::wait(std::chrono::nanoseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  const timespec timeout = {.tv_sec = seconds.count(), .tv_nsec = (time - seconds).count()};
  ppoll(nullptr, 0, &timeout, nullptr);
}

}  // namespace forebay
