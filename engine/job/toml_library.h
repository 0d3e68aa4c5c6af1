#pragma once

// The only place that includes toml++: header-only and without exceptions, so that parsing returns
// a value or an error like the rest of Forebay.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#include <toml++/impl/preprocessor.h>

// toml++ 3 asserts some properties of keys (`[$x]` is not a key) and then checks and reports them
// in the next lines. With its assertions, a file that is merely wrong would end the program or be
// undefined behaviour, so they are disabled.
#undef TOML_ASSERT_ASSUME
#define TOML_ASSERT_ASSUME(condition) static_cast<void>(0)
#include <toml++/impl/forward_declarations.h>

// toml++'s tables of the characters allowed in a key miss a few code points (U+FE3F), which it then
// declares unreachable.
#pragma push_macro("TOML_UNREACHABLE")
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE return false
#include <toml++/impl/unicode.h>
#pragma pop_macro("TOML_UNREACHABLE")
#include <toml++/toml.h>
