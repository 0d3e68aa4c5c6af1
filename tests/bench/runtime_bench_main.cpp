// Prints the actor runtime's figures as one line of JSON, as caf_runtime does CAF's.

#include <cstdio>

#include "tools/bench/bench.h"

int main() {
  const auto results = forebay::bench_runtime({.rounds = 1});
  if (!results) return 1;
  const char* separator = "{";
  for (const forebay::BenchResult& result : *results) {
    std::printf("%s\"%s\": %.0f", separator, result.name.c_str(), result.value);
    separator = ", ";
  }
  std::printf("}\n");
}
