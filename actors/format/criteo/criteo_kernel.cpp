#include "actors/format/criteo/criteo_kernel.h"

namespace forebay {

const CriteoKernel& criteo_kernel(CpuLevel level) {
  switch (level) {
    case CpuLevel::kAvx512:
      return kCriteoAvx512;
    case CpuLevel::kAvx2:
      return kCriteoAvx2;
    case CpuLevel::kBaseline:
      break;
  }
  return kCriteoBaseline;
}

}  // namespace forebay
