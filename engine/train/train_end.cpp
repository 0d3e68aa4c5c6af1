#include "engine/train/train_end.h"

namespace forebay {

TrainEnd end_of_meeting(const Error& error) {
  const bool gone = error.code == Code::kUnavailable || error.code == Code::kTimeout;
  return gone ? TrainEnd::failed(error) : TrainEnd::refused(error);
}

}  // namespace forebay
