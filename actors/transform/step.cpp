#include "actors/transform/step.h"

namespace forebay {

void TransformPlan::Step::bound(SizeBound&) const {}

}  // namespace forebay
