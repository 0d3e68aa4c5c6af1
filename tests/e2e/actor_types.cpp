#include "tests/e2e/actor_types.h"

FOREBAY_ACTORS(types) {
  types.add<counting::Counter, int>("counter");
  types.add<counting::Holder, int>("holder");
  types.add_task<counting::process_after>("process_after");
  types.add_task<counting::half>("half");
  types.add_task<counting::need_even>("need_even");
  types.add_task<counting::exact_half>("exact_half");
}
