// The actor that fetches objects on the nodes of shaped.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include <forebay/cluster.h>

namespace shaped {

using forebay::actors::Context;
using forebay::actors::Future;
using forebay::actors::Object;
using forebay::actors::Promise;
using forebay::actors::Result;
using forebay::actors::View;

using Bytes = std::vector<std::byte>;

/// Answered with the size of the object when all of it is here.
struct Fetch {
  static constexpr std::string_view kTag = "shaped/fetch";
  using Reply = std::uint64_t;
  Object<Bytes> object;
  static auto fields(auto& self) { return std::tie(self.object); }
};
struct Forget {
  static constexpr std::string_view kTag = "shaped/forget";
  static auto fields(auto&) { return std::tie(); }
};
/// A value in the message itself, which is large.
struct Take {
  static constexpr std::string_view kTag = "shaped/take";
  using Reply = std::uint64_t;
  Bytes bytes;
  static auto fields(auto& self) { return std::tie(self.bytes); }
};

struct Keeper : forebay::actors::Actor<Keeper, Fetch, Forget, Take> {
  explicit Keeper(int /*unused*/) {}
  Future<std::uint64_t> on(const Fetch& fetch, Context& context) {
    object = fetch.object;
    const Promise<std::uint64_t> size;
    context.then(object.get(), [size](Result<View<Bytes>> view) {
      if (!view) return size.set(view.error());
      size.set(std::uint64_t{view->size()});
    });
    return size.future();
  }
  void on(const Forget&) { object = {}; }
  std::uint64_t on(const Take& take) { return take.bytes.size(); }

  Object<Bytes> object;
};

}  // namespace shaped
