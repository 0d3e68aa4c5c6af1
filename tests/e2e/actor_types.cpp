#include "tests/e2e/actor_types.h"

FOREBAY_ACTORS(types) {
  types.add<counting::Counter, int>("counter");
  types.add<counting::Holder, int>("holder");
}
