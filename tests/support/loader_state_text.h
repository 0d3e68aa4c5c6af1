#pragma once

#include <cstdint>
#include <string>

#include "actors/loader_state.h"

namespace forebay::test {

/// A state as version 1 wrote it: nested, without a checksum and without `left_out`.
inline std::string version_1_text(const LoaderState& state) {
  const Position& at = state.position;
  std::string ahead;
  for (const std::uint32_t distance : at.ahead) {
    ahead += (ahead.empty() ? "" : ",") + std::to_string(distance);
  }
  std::string identity;
  for (const auto& [key, value] : state.identity) {
    identity += (identity.empty() ? "\"" : ",\"") + key + "\":\"" + value + '"';
  }
  const auto number = [](const char* key, std::uint64_t value) {
    return '"' + std::string(key) + "\":" + std::to_string(value);
  };
  return R"({"fingerprint":")" + state.fingerprint + R"(","identity":{)" + identity +
         R"(},"position":{"ahead":")" + ahead + "\"," + number("bad_rows", at.bad_rows) + ',' +
         number("batches", at.batches) + R"(,"digest":")" + at.digest.hex() + "\"," +
         number("epoch", at.epoch) + ',' + number("held_out", at.held_out) + ',' +
         number("open_split", at.open_split) + ',' + number("rows", at.rows) + ',' +
         number("split", at.split) + ',' + number("split_rows", at.split_rows) +
         R"(},"version":1})" + "\n";
}

}  // namespace forebay::test
