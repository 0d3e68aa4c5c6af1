#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "tests/engine/actors/object_world.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;
using namespace test;
using Listens = ObjectWorld::Listens;
using Numbers = std::vector<std::int32_t>;

constexpr std::size_t kChunkNumbers = kObjectChunk / sizeof(std::int32_t);

/// `count` numbers from `first` on.
Numbers numbers_from(std::int32_t first, std::size_t count) {
  Numbers numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = first + static_cast<std::int32_t>(i);
  return numbers;
}

struct Note {
  static constexpr std::string_view kTag = "large/note";
  using Reply = int;
  int sender = 0;
  int number = 0;
  Numbers numbers;
  static auto fields(auto& self) { return std::tie(self.sender, self.number, self.numbers); }
};
struct Many {
  static constexpr std::string_view kTag = "large/many";
  using Reply = Numbers;
  int count = 0;
  static auto fields(auto& self) { return std::tie(self.count); }
};
struct ManyLater {
  static constexpr std::string_view kTag = "large/many_later";
  using Reply = Numbers;
  static auto fields(auto&) { return std::tie(); }
};
struct ThrowNow {
  static constexpr std::string_view kTag = "large/throw";
  static auto fields(auto&) { return std::tie(); }
};

/// What a Notebook has got, where the test sees it.
struct Notes {
  std::vector<std::pair<int, int>> got = {};  ///< Sender and number.
  bool exact = true;                          ///< All numbers so far were right.
  int made = 0;                               ///< Notebooks.
  actors::Promise<Numbers> later = {};
};

struct Notebook : actors::Actor<Notebook, Note, Many, ManyLater, ThrowNow> {
  explicit Notebook(Notes* into) : notes(into) { ++notes->made; }
  int on(const Note& note) {
    if (note.sender < 0) throw std::runtime_error("a sender below zero");
    notes->got.emplace_back(note.sender, note.number);
    notes->exact = notes->exact && note.numbers == numbers_from(note.number, note.numbers.size());
    return note.number;
  }
  Numbers on(const Many& many) { return numbers_from(7, static_cast<std::size_t>(many.count)); }
  actors::Future<Numbers> on(const ManyLater&) { return notes->later.future(); }
  void on(const ThrowNow&) { throw std::runtime_error("told to throw"); }
  Notes* notes;
};

/// Programs `one` and `two` that reach a Notebook on a node.
struct Notebooks {
  explicit Notebooks(const actors::ObjectLimits& limits = {}, std::size_t mailbox_bytes = 1 << 20)
      : node(world.add("node", Listens::kYes, limits)),
        notebook(actors::spawn_at<Notebook>(
            node.users, {.name = "notebook", .mailbox_bytes = mailbox_bytes, .restarts = 1},
            &notes)) {
    node.node.publish("notebook", UserRef(local_actor(*notebook.target()).receiver));
    world.connect(one, "node");
    world.connect(two, "node");
  }

  static Notebook::Ref from(ObjectProcess& program) {
    return Notebook::Ref(
        std::make_shared<LocalTarget>(program.find<UserRef>("node", "notebook"), program.users));
  }
  template <class T>
  actors::Result<T> wait(const actors::Future<T>& future) {
    world.run();
    REQUIRE(future.ready());
    return future.wait();
  }
  std::vector<std::string> said() {
    std::vector<std::string> sentences;
    for (const Error& error : node.host.unheard()) sentences.push_back(error.message);
    return sentences;
  }

  Notes notes;
  ObjectWorld world;
  ObjectProcess& node;
  ObjectProcess& one = world.add("one", Listens::kNo, {.memory_bytes = 64 << 20});
  ObjectProcess& two = world.add("two", Listens::kNo);
  Notebook::Ref notebook;
};

using Got = std::vector<std::pair<int, int>>;

/// The numbers that came from one sender.
std::vector<int> from_sender(const Got& got, int sender) {
  std::vector<int> numbers;
  for (const auto& [from, number] : got) {
    if (from == sender) numbers.push_back(number);
  }
  return numbers;
}

std::vector<int> up_to(int count) {
  std::vector<int> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(i);
  return numbers;
}

/// Has a text that says it is larger than MessagePack can say.
struct Endless {
  static constexpr std::string_view kTag = "large/endless";
};

}  // namespace
}  // namespace forebay

template <>
struct forebay::actors::Field<forebay::Endless> {
  static void write(Writer& writer, const forebay::Endless&) {
    writer.text({"", std::size_t{1} << 32});
  }
  static bool read(Reader&, forebay::Endless&) { return false; }
};

namespace forebay {

TEST_CASE_METHOD(Notebooks, "a large message travels as an object, and small ones stay behind it",
                 "[actors][objects][large]") {
  const auto notebook_there = from(one);
  REQUIRE(notebook_there.tell(Note{1, 0, numbers_from(0, 2 * kChunkNumbers)}));
  REQUIRE(notebook_there.tell(Note{1, 1, {}}));
  CHECK(one.memory() > 2 * kObjectChunk);
  world.run();
  CHECK(notes.got == Got{{1, 0}, {1, 1}});
  CHECK(notes.exact);
  CHECK(one.transport.sent_frame_bytes > 2 * kObjectChunk);
  CHECK(one.memory() == 0);
  CHECK(node.memory() == 0);
}

TEST_CASE_METHOD(Notebooks, "a message below a mebibyte is no object", "[actors][objects][large]") {
  REQUIRE(from(one).tell(Note{1, 0, numbers_from(0, kChunkNumbers - 100)}));
  CHECK(one.memory() == 0);
  world.run();
  CHECK(notes.got == Got{{1, 0}});
  CHECK(one.transport.sent_frame_bytes == 0);
}

TEST_CASE_METHOD(Notebooks, "a large message holds up no other process",
                 "[actors][objects][large]") {
  REQUIRE(from(two).tell(Note{2, 0, numbers_from(0, kChunkNumbers)}));  // It has sent one before.
  world.run();
  REQUIRE(from(one).tell(Note{1, 0, numbers_from(0, 20 * kChunkNumbers)}));
  REQUIRE(from(two).tell(Note{2, 1, {}}));
  world.run_some(2);
  CHECK(notes.got == Got{{2, 0}, {2, 1}});
  REQUIRE(notebook.tell(Note{3, 0, {}}));  // in its process
  world.run_some(1);
  CHECK(notes.got == Got{{2, 0}, {2, 1}, {3, 0}});
  world.run();
  CHECK(notes.got.back() == std::pair(1, 0));
}

TEST_CASE("in every order that a seed draws, the messages of a process stay in order and exact",
          "[actors][objects][large]") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Notebooks books;
    Random random(seed);
    constexpr int kEach = 10;
    std::vector<actors::Future<int>> answers;
    for (int number = 0; number < kEach; ++number) {
      for (ObjectProcess* program : {&books.one, &books.two}) {
        const std::size_t count = random.below(3) == 0 ? kChunkNumbers + random.below(50'000) : 5;
        Note note{program == &books.one ? 1 : 2, number, numbers_from(number, count)};
        if (random.below(2) == 0) {
          REQUIRE(Notebooks::from(*program).tell(std::move(note)));
        } else {
          answers.push_back(Notebooks::from(*program).ask(std::move(note), 1min));
        }
      }
    }
    books.world.run(random);
    CAPTURE(seed);
    CHECK(from_sender(books.notes.got, 1) == up_to(kEach));
    CHECK(from_sender(books.notes.got, 2) == up_to(kEach));
    CHECK(books.notes.exact);
    for (const auto& answer : answers) CHECK(answer.ready());
    CHECK(books.one.memory() + books.two.memory() + books.node.memory() == 0);
  }
}

TEST_CASE_METHOD(Notebooks, "a large answer is exact, at once or later",
                 "[actors][objects][large]") {
  const auto at_once = wait(from(one).ask(Many{2 * kChunkNumbers}, 1s));
  REQUIRE(at_once);
  CHECK(*at_once == numbers_from(7, 2 * kChunkNumbers));
  const auto later = from(one).ask(ManyLater{}, 1s);
  world.run();
  CHECK_FALSE(later.ready());
  notes.later.set(numbers_from(1, kChunkNumbers));
  const auto answer = wait(later);
  REQUIRE(answer);
  CHECK(*answer == numbers_from(1, kChunkNumbers));
  CHECK(node.memory() == 0);
  CHECK(node.transport.sent_frame_bytes > 3 * kObjectChunk);
}

TEST_CASE_METHOD(Notebooks, "the bytes of a large answer must come before the deadline",
                 "[actors][objects][large]") {
  const auto answer = from(one).ask(Many{20 * kChunkNumbers}, 1s);
  world.run_some(4);
  one.host.advance(500ms);
  world.run_some(4);
  CHECK_FALSE(answer.ready());
  one.host.advance(500ms);
  REQUIRE(answer.ready());
  CHECK(answer.wait().error().code == actors::Code::kTimeout);
  world.run();
  CHECK(one.memory() == 0);
}

TEST_CASE_METHOD(Notebooks, "a sender that dies takes its large messages along, and is said once",
                 "[actors][objects][large]") {
  const auto notebook_there = from(one);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(notebook_there.tell(Note{1, i, numbers_from(i, 10 * kChunkNumbers)}));
  }
  REQUIRE(notebook_there.tell(Note{1, 3, {}}));
  world.run_some(12);
  CHECK(notes.got.empty());
  one.transport.stop();
  world.run();
  CHECK(notes.got == Got{{1, 3}});
  CHECK(said() ==
        std::vector<std::string>{
            "a message of another process was lost, number 1: a large message: the owner of the "
            "object: stopped",
            "a message of another process was lost, number 2: a large message: the owner of the "
            "object: stopped"});  // nothing of the third
  CHECK(node.memory() == 0);
}

TEST_CASE_METHOD(Notebooks, "an answer whose node dies meanwhile is an error",
                 "[actors][objects][large]") {
  const auto answer = from(one).ask(Many{20 * kChunkNumbers}, 1s);
  world.run_some(6);
  CHECK_FALSE(answer.ready());
  node.transport.stop();
  const auto result = wait(answer);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == actors::Code::kUnavailable);
  CHECK(result.error().message == "a large answer: the owner of the object: stopped");
}

TEST_CASE_METHOD(Notebooks, "messages that wait for bytes outlive a crash of their actor",
                 "[actors][objects][large]") {
  REQUIRE(from(one).tell(Note{1, 0, numbers_from(0, 10 * kChunkNumbers)}));
  const auto behind = from(one).ask(Note{1, 1, {}}, 1min);
  world.run_some(6);
  REQUIRE(notebook.tell(ThrowNow{}));
  world.run();
  CHECK(notes.made == 2);
  CHECK(notes.got == Got{{1, 0}, {1, 1}});
  CHECK(behind.ready());
}

TEST_CASE_METHOD(Notebooks, "the asker of a large message hears why it made its actor crash",
                 "[actors][objects][large]") {
  const auto asked = wait(from(one).ask(Note{-1, 0, numbers_from(0, 10 * kChunkNumbers)}, 1min));
  REQUIRE_FALSE(asked);
  CHECK(asked.error().message.find("a sender below zero") != std::string::npos);
  CHECK(notes.made == 1);  // It starts again with the next message.
  CHECK(*wait(from(one).ask(Note{1, 5, {}}, 1min)) == 5);
  CHECK(notes.made == 2);
}

TEST_CASE_METHOD(Notebooks, "askers that wait for bytes hear that the actor has ended",
                 "[actors][objects][large]") {
  const auto large = from(one).ask(Note{1, 0, numbers_from(0, 10 * kChunkNumbers)}, 1min);
  const auto behind = from(one).ask(Note{1, 1, {}}, 1min);
  world.run_some(6);
  notebook.stop();
  for (const auto& asked : {large, behind}) {
    CHECK(wait(asked).error().code == actors::Code::kUnavailable);
  }
  CHECK(notes.got.empty());
  CHECK(one.memory() + node.memory() == 0);
}

TEST_CASE_METHOD(Notebooks, "a stop stays behind the large messages of its process",
                 "[actors][objects][large]") {
  const auto notebook_there = from(one);
  REQUIRE(notebook_there.tell(Note{1, 0, numbers_from(0, 3 * kChunkNumbers)}));
  notebook_there.stop();
  world.run();
  CHECK(notes.got == Got{{1, 0}});
  CHECK(notebook.tell(ThrowNow{}).error().code == actors::Code::kNotFound);
}

TEST_CASE("a node with little room takes large messages one after the other",
          "[actors][objects][large]") {
  Notebooks books({.memory_bytes = 3 << 20});
  const auto notebook = Notebooks::from(books.one);
  for (int i = 0; i < 4; ++i) {
    REQUIRE(notebook.tell(Note{1, i, numbers_from(i, 2 * kChunkNumbers)}));
  }
  books.world.run();
  CHECK(books.notes.got == Got{{1, 0}, {1, 1}, {1, 2}, {1, 3}});
  CHECK(books.notes.exact);
  const auto too_large = notebook.ask(Note{1, 4, numbers_from(0, 3 * kChunkNumbers)}, 1s);
  const auto refused = books.wait(too_large);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == actors::Code::kInvalid);
}

TEST_CASE("a large message waits ten seconds for room that others take",
          "[actors][objects][large]") {
  Notebooks books({.memory_bytes = 3 << 20});
  auto object = std::make_optional(books.node.put(2 * kObjectChunk / sizeof(float)));
  const auto notebook = Notebooks::from(books.one);
  const auto asked = notebook.ask(Note{1, 0, numbers_from(0, kChunkNumbers + 1)}, 1min);
  books.world.run();
  books.world.pass(9s);
  CHECK_FALSE(asked.ready());
  SECTION("and arrives when it is free") {
    object.reset();
    books.world.pass(100ms);
    CHECK(books.notes.got == Got{{1, 0}});
    CHECK(asked.ready());
  }
  SECTION("and is refused then") {
    books.world.pass(2s);
    REQUIRE(asked.ready());
    CHECK(asked.wait().error().code == actors::Code::kOverloaded);
    CHECK(books.notes.got.empty());
  }
}

TEST_CASE_METHOD(Notebooks, "a message that finds no room with its sender is left with it",
                 "[actors][objects][large]") {
  const auto notebook_there = from(one);
  REQUIRE(notebook_there.tell(Note{1, 0, numbers_from(0, 15 * kChunkNumbers)}));
  auto message = actors::Box::of(Note{1, 1, numbers_from(0, 60 * kChunkNumbers)});
  const auto refused = notebook_there.target()->push(message);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == actors::Code::kOverloaded);
  CHECK(message.as<Note>().numbers.size() == 60 * kChunkNumbers);
  world.run();
  REQUIRE(notebook_there.target()->push(message));
  CHECK(message.type() == nullptr);
  const auto endless = actors::Box::of(Endless{});
  CHECK(pack_to_send(endless, one.users.objects()).error().code == Code::kInvalid);
}

TEST_CASE_METHOD(Notebooks, "one value told to many is one object, on its way and with its sender",
                 "[actors][objects][large]") {
  constexpr std::size_t kCount = 12 * kChunkNumbers;
  std::vector<std::unique_ptr<Notes>> all;
  std::vector<Notebook::Ref> refs;
  const std::vector<std::string> names = {"n1", "n2", "n3"};
  for (const std::string& name : names) {
    ObjectProcess& there = world.add(name, Listens::kYes);
    world.connect(one, name);
    for (const std::string& other : names) {
      if (other < name) world.connect(there, other);
    }
    const auto book = actors::spawn_at<Notebook>(there.users, {.name = name},
                                                 all.emplace_back(std::make_unique<Notes>()).get());
    there.node.publish("notebook", UserRef(local_actor(*book.target()).receiver));
    refs.emplace_back(
        std::make_shared<LocalTarget>(one.find<UserRef>(name, "notebook"), one.users));
  }
  for (const auto& ref : refs) REQUIRE(ref.tell(Note{1, 5, numbers_from(5, kCount)}));
  CHECK(one.memory() < 2 * 12 * kObjectChunk);
  world.run();
  for (const auto& notes_there : all) {
    CHECK(notes_there->got == Got{{1, 5}});
    CHECK(notes_there->exact);
  }
  CHECK(one.transport.sent_frame_bytes < 2 * 12 * kObjectChunk);
  world.pass(1s);  // Nodes keep bytes a while that others have fetched from them.
  CHECK(one.memory() == 0);
}

TEST_CASE_METHOD(Notebooks, "an object that is about to go is there for the next large message",
                 "[actors][objects][large]") {
  Objects& objects = one.users.objects();
  const Numbers numbers = numbers_from(0, kChunkNumbers);
  const Frame bytes(nullptr, reinterpret_cast<const std::byte*>(numbers.data()), kObjectChunk);
  auto first = objects.put_large(bytes);
  REQUIRE(first);
  world.run();
  const ObjectKey key = first->info.key;
  *first = {};  // Its store has yet to hear of it.
  const auto second = objects.put_large(bytes);
  REQUIRE(second);
  CHECK(second->info.key == key);
  world.run();
  bool is_there = false;
  fetch(objects.take(*second),
        [&is_there](const Result<Frame>& frame) { is_there = frame.has_value(); });
  world.run();
  CHECK(is_there);
}

TEST_CASE("what waits behind a large message is bounded as a mailbox is",
          "[actors][objects][large]") {
  Notebooks books({}, 100'000);
  const auto notebook = Notebooks::from(books.one);
  REQUIRE(notebook.tell(Note{1, 0, numbers_from(0, 10 * kChunkNumbers)}));
  for (int i = 1; i < 6; ++i) {  // 40,000 bytes each; the third is too much
    REQUIRE(notebook.tell(Note{1, i, numbers_from(i, 10'000)}));
  }
  const auto asked = notebook.ask(Note{1, 6, numbers_from(6, 10'000)}, 1min);
  const auto refused = books.wait(asked);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == actors::Code::kOverloaded);
  CHECK(books.notes.got == Got{{1, 0}, {1, 1}, {1, 2}});
  CHECK(books.said().size() == 2);  // When the first was lost, and when the second was.
  // Handled messages leave their room to others.
  REQUIRE(notebook.tell(Note{1, 7, numbers_from(7, 10 * kChunkNumbers)}));
  REQUIRE(notebook.tell(Note{1, 8, numbers_from(8, 10'000)}));
  books.world.run();
  CHECK(books.notes.got == Got{{1, 0}, {1, 1}, {1, 2}, {1, 7}, {1, 8}});
}

TEST_CASE_METHOD(Notebooks, "a large message reaches an actor behind another process",
                 "[actors][objects][large]") {
  ObjectProcess& far = world.add("far", Listens::kNo);
  world.connect(node, "far");
  Notes there;
  const auto notebook_there = actors::spawn_at<Notebook>(far.users, {.name = "far"}, &there);
  far.node.publish("notebook", UserRef(local_actor(*notebook_there.target()).receiver));
  node.node.publish("far", node.find<UserRef>("far", "notebook"));
  const Notebook::Ref ref(
      std::make_shared<LocalTarget>(one.find<UserRef>("node", "far"), one.users));
  REQUIRE(ref.tell(Note{1, 0, numbers_from(0, 2 * kChunkNumbers)}));
  REQUIRE(ref.tell(Note{1, 1, {}}));
  const auto answer = ref.ask(Many{2 * kChunkNumbers}, 1min);
  world.run();
  CHECK(there.got == Got{{1, 0}, {1, 1}});
  CHECK(there.exact);
  REQUIRE(answer.ready());
  CHECK(answer.wait()->size() == 2 * kChunkNumbers);
  CHECK(one.memory() + far.memory() + node.memory() == 0);
}

}  // namespace forebay
