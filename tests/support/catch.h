#pragma once

// The only file that includes Catch2. It is the last include of a test: torch and glog define CHECK
// as a macro that aborts, and the last definition wins.
#undef CHECK
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
