#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "engine/actors/cluster/libraries/incoming_library.h"
#include "engine/actors/cluster/libraries/library_fetch.h"
#include "engine/actors/cluster/libraries/library_table.h"
#include "tests/engine/actors/cluster_world.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;
using test::ClusterProcess;
using test::ClusterWorld;
using test::FakeLibraries;
using test::FakeLibrary;

constexpr bool kShips = true;

Frames text_part(const std::string& text) { return {FakeLibrary("lib.so", text).frame(0)}; }

/// A library of two whole parts and one of 5 bytes.
FakeLibrary large_library() {
  return {"liblarge.so", std::string(2 * kLibraryChunk, 'x') + "12345", kShips};
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a type from another library than on another node is refused by the libraries' names",
          "[actors][libraries]") {
  LibraryTable table;
  const FakeLibrary old{"libshard.so", "old"};
  FakeLibrary changed{"libshards.so", "new"};
  changed.info.types = {"counter", "libshard.so"};
  table.set("n1", {old.info}, false);
  CHECK(table.check("n1", {changed.info}));  // It replaces its own.
  CHECK(table.check("n2", {old.info}));
  const auto refused = table.check("n2", {changed.info});
  REQUIRE(!refused);
  CHECK(has(refused.error().message,
            "its library libshards.so differs from libshard.so of node n1, and both have the type "
            "libshard.so"));
  table.remove("n1");
  CHECK(table.check("n2", {changed.info}));
}

TEST_CASE("a node that accepts libraries lacks those that others ship and it has not",
          "[actors][libraries]") {
  LibraryTable table;
  const FakeLibrary shipped{"liba.so", "a", kShips};
  const FakeLibrary kept{"libb.so", "b"};
  table.set("n1", {shipped.info, kept.info}, false);
  table.set("n2", {}, true);
  table.set("n3", {}, false);
  const auto lacking = table.lacking();
  REQUIRE(lacking.size() == 1);
  REQUIRE(lacking.at("n2").size() == 1);
  CHECK(lacking.at("n2")[0].library.name == "liba.so");
  CHECK(lacking.at("n2")[0].from == "n1");
  CHECK(table.refused_by("n3").size() == 1);
  CHECK(table.refused_by("n2").empty());
  CHECK(*table.source(shipped.info.digest) == "n1");
  CHECK(table.source(kept.info.digest) == nullptr);
  REQUIRE(table.add("n2", shipped.info));
  CHECK(table.lacking().at("n2").empty());
  table.remove("n1");
  CHECK(*table.source(shipped.info.digest) == "n2");
  CHECK(table.add("n1", shipped.info).error().code == Code::kNotFound);
  CHECK(table.add("n2", shipped.info).error().code == Code::kInvalid);  // It has it.
  CHECK(table.add("n2", kept.info));
  LibraryInfo differs = FakeLibrary("libb.so", "c").info;
  CHECK(has(table.add("n3", differs).error().message, "its library libb.so differs"));
}

TEST_CASE("a library that no node of this program has is refused", "[actors][libraries]") {
  const LibraryInfo good = FakeLibrary("liba.so", "a", kShips).info;
  CHECK(check(good));
  for (const char* name : {"", ".", "..", "../liba.so", "/liba.so", "a\nb"}) {
    LibraryInfo bad = good;
    bad.name = name;
    CHECK(has(check(bad).error().message, "must have a name of one line"));
  }
  LibraryInfo bad = good;
  bad.digest.pop_back();
  CHECK_FALSE(check(bad));
  bad = good;
  bad.types = {"a\nb"};
  CHECK_FALSE(check(bad));
  bad = good;
  bad.bytes = 0;
  CHECK_FALSE(check(bad));
  bad.bytes = kMostLibraryBytes + 1;
  CHECK(has(check(bad).error().message, "268435457 bytes; libraries of 1 byte to 256 MiB"));
  bad.ships = false;
  CHECK(check(bad));
  bad.types.assign(kMostTypes + 1, "t");
  CHECK_FALSE(check(bad));
  LibraryTable table;
  CHECK(table.check("n", std::vector<LibraryInfo>(kMostLibraries, good)));
  CHECK_FALSE(table.check("n", std::vector<LibraryInfo>(kMostLibraries + 1, good)));
  LibraryInfo half = good;
  half.types.assign(kMostTypes / 2, "t");
  CHECK(table.check("n", {half, half}));
  CHECK_FALSE(table.check("n", {half, half, good}));
}

TEST_CASE("a library comes into a folder that only its owner may open, and that goes with it",
          "[actors][libraries]") {
  const FakeLibrary library{"liba.so", "abc", kShips};
  std::string path;
  {
    auto incoming = IncomingLibrary::begin(library.info);
    REQUIRE(incoming);
    path = (*incoming)->path();
    struct stat there {};
    REQUIRE(::stat(std::filesystem::path(path).parent_path().c_str(), &there) == 0);
    CHECK((there.st_mode & 0777) == 0700);
    CHECK((*incoming)->take({library.frame(0)}));
    CHECK((*incoming)->is_complete());
    CHECK(std::filesystem::file_size(path) == 3);
    CHECK_FALSE((*incoming)->take({library.frame(0)}));  // There is no further part.
  }
  CHECK_FALSE(std::filesystem::exists(std::filesystem::path(path).parent_path()));
}

TEST_CASE("a part of another size, and a library of another digest, are corrupt",
          "[actors][libraries]") {
  const FakeLibrary library = large_library();
  auto incoming = IncomingLibrary::begin(library.info);
  REQUIRE(incoming);
  CHECK((*incoming)->take(text_part("short")).error().code == Code::kCorrupt);
  CHECK((*incoming)->take({}).error().code == Code::kCorrupt);
  CHECK((*incoming)->take({library.frame(0), library.frame(0)}).error().code == Code::kCorrupt);
  CHECK((*incoming)->take({library.frame(0)}));
  CHECK((*incoming)->take({library.frame(kLibraryChunk)}));
  CHECK((*incoming)->offset() == 2 * kLibraryChunk);
  CHECK((*incoming)->take(text_part("123456")).error().code == Code::kCorrupt);
  const auto damaged = (*incoming)->take(text_part("1234x"));
  REQUIRE(!damaged);
  CHECK(damaged.error().code == Code::kCorrupt);
  CHECK(has(damaged.error().message, library.info.digest));
}

TEST_CASE("a node asks for one part after the other, and again where none came",
          "[actors][libraries]") {
  const FakeLibrary library = large_library();
  FakeLibraries here;
  here.accepts = true;
  LibraryFetch fetch(here);
  CHECK_FALSE(fetch.ask());
  REQUIRE(fetch.want({library.info, "n1"}));
  REQUIRE(fetch.want({library.info, "n1"}));  // It is on its way.
  CHECK(fetch.ask()->offset == 0);
  CHECK_FALSE(fetch.ask());  // Until the answer.
  CHECK(fetch.take(fail(Code::kTimeout, "no answer")).error().message ==
        "library liblarge.so, which node n1 ships: no answer; it is asked for again");
  CHECK(fetch.ask()->offset == 0);
  CHECK_FALSE(*fetch.take(fail(Code::kUnavailable, "no session")));  // It was said.
  const auto give = [&](std::uint64_t offset) {
    return fetch.take(LibraryChunk{{library.frame(offset)}});
  };
  for (const std::uint64_t offset : {std::size_t{0}, kLibraryChunk}) {
    CHECK(fetch.ask()->offset == offset);
    CHECK_FALSE(*give(offset));
  }
  CHECK(fetch.ask()->offset == 2 * kLibraryChunk);
  CHECK_FALSE(fetch.take(fail(Code::kOverloaded, "no room")));  // A part came: it is said again.
  CHECK(fetch.ask()->offset == 2 * kLibraryChunk);
  const auto opened = give(2 * kLibraryChunk);
  REQUIRE((opened && *opened));
  CHECK((*opened)->digest == library.info.digest);
  CHECK_FALSE(fetch.ask());
  REQUIRE(fetch.want({library.info, "n1"}));  // It is here.
  CHECK_FALSE(fetch.ask());
}

TEST_CASE("a node says once why it does not take a library", "[actors][libraries]") {
  const FakeLibrary library{"liba.so", "abc", kShips};
  FakeLibraries here;
  LibraryFetch fetch(here);
  const auto refused = fetch.want({library.info, "n1"});
  REQUIRE(!refused);
  CHECK(refused.error().message ==
        "library liba.so of node n1 is not taken: this node was not started with "
        "--accept-shipped");
  CHECK(fetch.want({library.info, "n1"}));
  CHECK_FALSE(fetch.ask());
}

TEST_CASE("a node takes at most 64 libraries, those that it waits for included",
          "[actors][libraries]") {
  FakeLibraries here;
  here.accepts = true;
  here.libraries.assign(kMostLibraries - 1, FakeLibrary("liba.so", "a"));
  LibraryFetch fetch(here);
  REQUIRE(fetch.want({FakeLibrary("libb.so", "b", kShips).info, "n1"}));
  const auto refused = fetch.want({FakeLibrary("libc.so", "c", kShips).info, "n1"});
  REQUIRE(!refused);
  CHECK(refused.error().message ==
        "library libc.so of node n1 is not taken: a node takes at most 64 libraries");
}

TEST_CASE("a node that has refused 64 libraries hears of no further one", "[actors][libraries]") {
  FakeLibraries here;
  LibraryFetch fetch(here);
  const auto offer = [&fetch](std::size_t number) {
    return fetch.want({FakeLibrary("liba.so", std::to_string(number), kShips).info, "n1"});
  };
  for (std::size_t i = 0; i < kMostLibraries; ++i) CHECK_FALSE(offer(i));
  here.accepts = true;
  CHECK(offer(kMostLibraries));
  CHECK_FALSE(fetch.ask());
}

TEST_CASE("a node takes no library that no node can ship, and remembers nothing of it",
          "[actors][libraries]") {
  const FakeLibrary good{"liba.so", "abc", kShips};
  FakeLibraries here;
  here.accepts = true;
  LibraryFetch fetch(here);
  LibraryInfo kept = good.info;
  kept.ships = false;
  LibraryInfo outside = good.info;
  outside.name = "../liba.so";
  for (const TakeLibrary& take : {TakeLibrary{kept, "n1"}, TakeLibrary{outside, "n1"},
                                  TakeLibrary{good.info, std::string(129, 'n')}}) {
    CHECK(fetch.want(take).error().message == "a library that no node can ship is not taken");
  }
  CHECK_FALSE(fetch.ask());
  REQUIRE(fetch.want({good.info, "n1"}));
  CHECK(fetch.ask());
}

TEST_CASE("a node gives up a library that is damaged, and one that nobody ships any more",
          "[actors][libraries]") {
  const FakeLibrary library{"liba.so", "abc", kShips};
  FakeLibraries here;
  here.accepts = true;
  LibraryFetch fetch(here);
  REQUIRE(fetch.want({library.info, "n1"}));
  CHECK(fetch.ask());
  CHECK_FALSE(fetch.take(fail(Code::kTimeout, "no answer")));
  CHECK(fetch.ask());
  auto gone = fetch.take(fail(Code::kNotFound, "no node ships it any more"));
  REQUIRE(!gone);
  CHECK(gone.error().message == "library liba.so, which node n1 ships: no node ships it any more");
  REQUIRE(fetch.want({library.info, "n2"}));  // Another node came.
  CHECK(fetch.ask());
  CHECK_FALSE(fetch.take(fail(Code::kTimeout, "no answer")));  // It is said again.
  CHECK(fetch.ask());
  CHECK(fetch.take(fail(Code::kInvalid, "no part of the library begins there")).error().message ==
        "library liba.so, which node n2 ships: no part of the library begins there");
  REQUIRE(fetch.want({library.info, "n2"}));
  CHECK(fetch.ask());
  CHECK(fetch.take(LibraryChunk{text_part("abd")}).error().code == Code::kCorrupt);
  CHECK(here.libraries.empty());
  REQUIRE(fetch.want({library.info, "n2"}));  // It was refused.
  CHECK_FALSE(fetch.ask());
}

TEST_CASE_METHOD(ClusterWorld, "a library goes through the head to nodes that accept it",
                 "[actors][libraries]") {
  const FakeLibrary library = large_library();
  ClusterProcess& one =
      add_node("n1", [&library](FakeLibraries& its) { its.libraries = {library}; });
  ClusterProcess& two = add_node("n2", [](FakeLibraries& its) { its.accepts = true; });
  ClusterProcess& three = add_node("n3", [](FakeLibraries&) {});
  CHECK(has(head().said,
            "node n3 lacks library liblarge.so, which node n1 ships; it takes it if "
            "it is started with --accept-shipped"));
  REQUIRE(two.libraries.libraries.size() == 1);
  CHECK(two.libraries.libraries[0].bytes == library.bytes);
  CHECK(one.libraries.reads == 3);
  CHECK(three.libraries.libraries.empty());
  CHECK(has(head().said, "node n2 has library liblarge.so now"));
  // The node that had it first is cut off: another one ships it from then on.
  network.cut("n1", "head");
  network.cut("head", "n1");
  pass(3s);
  ClusterProcess& four = add_node("n4", [](FakeLibraries& its) { its.accepts = true; });
  CHECK(four.libraries.libraries.size() == 1);
  CHECK(one.libraries.reads == 3);
  CHECK(two.libraries.reads == 3);
}

TEST_CASE_METHOD(ClusterWorld, "a fetch outlives the session with the head",
                 "[actors][libraries]") {
  const FakeLibrary library{"liblarge.so", std::string(100 * kLibraryChunk, 'x'), kShips};
  add_node("n1", [&library](FakeLibraries& its) { its.libraries = {library}; });
  ClusterProcess& two = add_node("n2", [](FakeLibraries& its) { its.accepts = true; });
  CHECK(two.libraries.libraries.empty());  // 300 ms are not enough.
  network.cut("n2", "head");
  network.cut("head", "n2");
  pass(3s);
  network.heal_all();
  pass(15s);
  CHECK(two.libraries.libraries.size() == 1);
  CHECK(has(head().said, "node n2 has library liblarge.so now"));
}

TEST_CASE_METHOD(ClusterWorld,
                 "a node with another library of a type is refused until the first goes",
                 "[actors][libraries]") {
  const FakeLibrary old{"libshard.so", "old"};
  const FakeLibrary changed{"libshard.so", "new"};
  add_node("n1", [&old](FakeLibraries& its) { its.libraries = {old}; });
  ClusterProcess& two =
      add_node("n2", [&changed](FakeLibraries& its) { its.libraries = {changed}; });
  CHECK(has(two.said,
            "the head refuses node n2: its library libshard.so differs from libshard.so "
            "of node n1"));
  CHECK(ask(directory, QueryActors{})->nodes == 1);
  network.cut("n1", "head");
  network.cut("head", "n1");
  pass(3s);
  CHECK(has(head().said, "node n2 offers actors"));
}

TEST_CASE_METHOD(ClusterWorld, "only a registered node has one more library, and only once",
                 "[actors][libraries]") {
  LibraryInfo more = FakeLibrary("libmore.so", "more", kShips).info;
  add_node("n1", [](FakeLibraries&) {});
  ClusterProcess& two = add_node("n2", [](FakeLibraries& its) { its.accepts = true; });
  head().said.clear();
  const auto loaded = [&](const std::string& node) {
    REQUIRE(directory.tell(LibraryLoaded{node, more}));
    pass(10ms);
  };
  loaded("n3");
  CHECK(head().said.empty());
  loaded("n1");
  CHECK(head().said == "node n1 has library libmore.so now\n");
  pass(100ms);  // It is offered to others; this node has only said so.
  CHECK(two.said ==
        "library libmore.so, which node n1 ships: this node does not ship the library\n");
  more.types = {"other"};
  loaded("n1");
  CHECK(has(head().said, "node n1: it has said before that it has this library"));
  PlaceActor place;
  place.spec = {.name = "a", .type = "other", .start = {}, .mailbox_bytes = 1 << 20};
  CHECK(has(ask(directory, std::move(place)).error().message,
            "there is n1 with libmore.so, n2 with;"));
}

}  // namespace forebay
