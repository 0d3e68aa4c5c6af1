#include "engine/train/train_report.h"

#include "core/base/enum_names.h"
#include "engine/job/quantity.h"

namespace forebay {

std::string describe(const Quality& quality) {
  if (quality.rows == 0) return "no AUC (no row was evaluated)";
  std::string words = quality.auc ? printed("AUC %.6f", *quality.auc)
                                  : std::string("no AUC (all rows are of one class)");
  if (quality.auc_error > 0) words += printed(" within %.2g", quality.auc_error);
  if (quality.log_loss) words += printed(", log loss %.6f", *quality.log_loss);
  if (quality.normalized_entropy) {
    words += printed(", normalized entropy %.4f", *quality.normalized_entropy);
  }
  if (quality.calibration) words += printed(", calibration %.4f", *quality.calibration);
  return words;
}

std::string_view describe(TrainEnd::How how) {
  using How = TrainEnd::How;
  static constexpr EnumName<How> kNames[] = {{"done", How::kDone},
                                             {"stopped", How::kStopped},
                                             {"failed", How::kFailed},
                                             {"refused", How::kRefused}};
  return name_in<How>(kNames, how);
}

TrainEnd end_of_meeting(const Error& error) {
  const bool gone = error.code == Code::kUnavailable || error.code == Code::kTimeout;
  return gone ? TrainEnd::failed(error) : TrainEnd::refused(error);
}

}  // namespace forebay
