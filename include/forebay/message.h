/// Values that Forebay's actors send each other, and how they are written as bytes.
///
/// A message is a struct with a tag, unique in the cluster, and the list of its fields:
///
///   struct Add {
///     static constexpr std::string_view kTag = "counter/add";
///     int count = 0;
///     static auto fields(auto& self) { return std::tie(self.count); }
///   };
///
/// A message that is answered names the answer's type: `using Reply = int;`. Fields may be numbers,
/// bool, enums, std::chrono::nanoseconds, std::string, std::optional, std::vector,
/// std::map<std::string, …>, references to actors (`Ref`) and to objects (`Object`), and structs
/// with a field list. Between processes a message is MessagePack: an array of its fields; a vector
/// of numbers is one bin of little-endian numbers. New fields are only ever appended: fields that
/// the sender does not know keep their defaults. Any other change needs another tag.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <forebay/field.h>
#include <forebay/result.h>
#include <forebay/value.h>

namespace forebay::actors {

template <class Fields>
inline constexpr bool kAllWritable = false;
template <class... Fields>
inline constexpr bool kAllWritable<std::tuple<Fields&...>> =
    (Writable<std::remove_const_t<Fields>> && ...);

/// The answer to an M: its `using Reply`, else nothing but success.
template <class M>
struct ReplyOfMessage {
  using Type = std::monostate;
};
template <class M>
requires requires { typename M::Reply; }
struct ReplyOfMessage<M> {
  using Type = typename M::Reply;
};
template <class M>
using ReplyOf = typename ReplyOfMessage<M>::Type;

/// Fails to compile, with the reason, unless M is a message. Always true.
template <class M>
constexpr bool check_message() {
  static_assert(std::default_initializable<M> && std::movable<M>,
                "A message must be movable and have a constructor without arguments.");
  static_assert(
      requires {
        { M::kTag } -> std::convertible_to<std::string_view>;
      },
      "A message needs a tag: static constexpr std::string_view kTag = \"folder/name\";");
  static_assert(Fielded<M>,
                "A message must list its fields: "
                "static auto fields(auto& self) { return std::tie(self.a, self.b); }");
  if constexpr (Fielded<M>) {
    static_assert(
        kAllWritable<decltype(M::fields(std::declval<M&>()))>,
        "A field of this message cannot be written: use numbers, bool, enums, "
        "nanoseconds, std::string, optional, vector, map<string, …>, Ref, Object, or structs that "
        "list their fields; or specialise forebay::actors::Field.");
  }
  static_assert(Writable<ReplyOf<M>>,
                "The Reply of this message cannot be written: see what a field may be.");
  return true;
}

}  // namespace forebay::actors
