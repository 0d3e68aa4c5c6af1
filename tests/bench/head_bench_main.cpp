// Prints the head's figures as one line of JSON. The store is below TMPDIR.

#include <cstdio>

#include "tools/bench/bench.h"

int main() {
  const auto results = forebay::bench_head({});
  if (!results) {
    std::fprintf(stderr, "%s\n", results.error().message.c_str());
    return 1;
  }
  const char* separator = "{";
  for (const forebay::BenchResult& result : *results) {
    std::printf("%s\"%s\": %.3f", separator, result.name.c_str(), result.value);
    separator = ", ";
  }
  std::printf("}\n");
}
