// A library that ends the process while it is loaded.

#include <cstdlib>

#include <forebay/udf.h>

[[maybe_unused]] static const int kEnded = (std::exit(0), 0);

FOREBAY_UDF(innocent) {}
