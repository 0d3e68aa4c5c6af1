#pragma once

// The only way toml++ is included: from its headers and without exceptions, so that a parse gives a
// value or an error, as everything here does.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#include <toml++/impl/preprocessor.h>

// What toml++ 3 takes for granted of a key (`[$x]` is no key) it checks again, and reports, in the
// next lines; its assertions would end the program, or be assumed, on a file that is merely wrong.
#undef TOML_ASSERT_ASSUME
#define TOML_ASSERT_ASSUME(condition) static_cast<void>(0)
#include <toml++/impl/forward_declarations.h>

// The tables of what may stand in a key miss a few code points (U+FE3F) that they then call
// impossible.
#pragma push_macro("TOML_UNREACHABLE")
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE return false
#include <toml++/impl/unicode.h>
#pragma pop_macro("TOML_UNREACHABLE")
#include <toml++/toml.h>
