#pragma once

#include <cstdlib>
#include <string>

#include "actors/python/function_process.h"

namespace forebay::test {

/// Says how the fake child behaves, until its end.
class Behaviour {
 public:
  explicit Behaviour(const std::string& how) { ::setenv("FAKE_CHILD", how.c_str(), 1); }
  ~Behaviour() { ::unsetenv("FAKE_CHILD"); }
  Behaviour(const Behaviour&) = delete;
  Behaviour& operator=(const Behaviour&) = delete;
};

/// A function that doubles `x` into `y`, in a process that needs no Python.
inline PythonFunction doubling() {
  return {.name = "fake:doubling",
          .pickled = "",
          .interpreter = FOREBAY_FAKE_CHILD,
          .path = {},
          .dense = {"x"},
          .sparse = {},
          .new_dense = {"y"},
          .new_sparse = {}};
}

}  // namespace forebay::test
