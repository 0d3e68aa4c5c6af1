#include "tests/bench/objects/keeper.h"

FOREBAY_ACTORS(types) { types.add<shaped::Keeper, int>("keeper"); }
