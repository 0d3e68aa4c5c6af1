#include <map>
#include <vector>

#include "trainer/embedding/slot_metadata.h"

#include "tests/support/catch.h"

using namespace forebay;

TEST_CASE("an index agrees with a map through random changes", "[trainer][embedding]") {
  const std::uint64_t seed = GENERATE(1, 2, 3);
  Random random(seed);
  constexpr std::size_t kSlots = 37;
  RowIndex index(kSlots);
  std::map<std::int64_t, std::int32_t> model;
  std::vector<std::int32_t> free;
  for (std::int32_t slot = 0; slot < static_cast<std::int32_t>(kSlots); ++slot)
    free.push_back(slot);
  for (int step = 0; step < 4000; ++step) {
    const auto key = static_cast<std::int64_t>(random.below(80)) - 40;
    const auto found = model.find(key);
    CHECK(index.find(key) == (found == model.end() ? RowIndex::kNone : found->second));
    if (found != model.end()) {
      CHECK(index.key_of(found->second) == key);
      index.erase(found->second);
      free.push_back(found->second);
      model.erase(found);
    } else if (!free.empty()) {
      index.put(key, free.back());
      model[key] = free.back();
      free.pop_back();
    }
    REQUIRE(index.size() == model.size());
  }
}
