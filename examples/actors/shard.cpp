// The library that nodes load: forebay worker --actors libparameter_server.so
#include "shard.h"

FOREBAY_ACTORS(types) { types.add<Shard, std::uint64_t>("shard"); }
