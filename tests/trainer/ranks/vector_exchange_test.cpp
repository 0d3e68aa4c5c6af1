#include "trainer/ranks/vector_exchange.h"

#include <algorithm>
#include <thread>

#include "core/base/random.h"
#include "tests/support/thread_collective.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

constexpr std::size_t kDim = 3;

/// Ids of some rows, with storage of their own.
struct ExchangedRows {
  std::vector<std::int32_t> lengths;
  std::vector<std::int64_t> ids;
  Batch batch;

  /// ExchangedRows [first, end) of a made-up global batch; each id encodes its feature, row and
  /// index in its bag.
  ExchangedRows(std::size_t features, std::size_t first, std::size_t end) {
    for (std::size_t feature = 0; feature < features; ++feature) {
      for (std::size_t row = first; row < end; ++row) {
        const std::size_t length = mix64(feature, row) % 4;
        lengths.push_back(static_cast<std::int32_t>(length));
        for (std::size_t i = 0; i < length; ++i) {
          ids.push_back(static_cast<std::int64_t>(feature * 10000 + row * 10 + i));
        }
      }
    }
    batch.rows = end - first;
    batch.sparse_features = features;
    batch.num_ids = ids.size();
    batch.lengths = lengths.data();
    batch.ids = ids.data();
  }
};

float value_of(std::size_t feature, std::size_t row, std::size_t i) {
  return static_cast<float>(feature * 10000 + row * 10 + i);
}

std::vector<int> owners_of(std::size_t features, std::size_t ranks) {
  std::vector<int> owners;
  for (std::size_t i = 0; i < features; ++i) owners.push_back(static_cast<int>(i * i % ranks));
  return owners;
}

struct Seen {
  std::vector<std::size_t> features;
  std::vector<std::int32_t> lengths;
  std::vector<std::int64_t> ids;
  bool vectors = true;
  bool gradients = true;
};

/// The ids of all rows for the features of a rank, announced before a step.
struct Dealt {
  ExchangedRows rows;
  explicit Dealt(const std::vector<std::size_t>& owned, std::size_t count) : rows(0, 0, 0) {
    for (const std::size_t feature : owned) {
      const ExchangedRows all(feature + 1, 0, count);
      const ExchangedRows before(feature, 0, count);
      rows.lengths.insert(rows.lengths.end(), all.lengths.begin() + before.lengths.size(),
                          all.lengths.end());
      rows.ids.insert(rows.ids.end(), all.ids.begin() + before.ids.size(), all.ids.end());
    }
    rows.batch.rows = count;
    rows.batch.sparse_features = owned.size();
    rows.batch.num_ids = rows.ids.size();
    rows.batch.lengths = rows.lengths.data();
    rows.batch.ids = rows.ids.data();
  }
};

/// One step of one rank, which has rows [first, end); `dealt`: the ids of all rows, if they were
/// announced.
Seen step(VectorExchange& exchange, std::size_t features, std::size_t first, std::size_t end,
          const Dealt* dealt = nullptr) {
  const ExchangedRows mine(features, first, end);
  if (dealt != nullptr) REQUIRE(exchange.take_ids(dealt->rows.batch, mine.batch));
  const Batch& owned = dealt ? dealt->rows.batch : **exchange.exchange_ids(mine.batch);
  Seen seen;
  seen.features = exchange.owned();
  seen.lengths.assign(owned.lengths, owned.lengths + owned.sparse_features * owned.rows);
  seen.ids.assign(owned.ids, owned.ids + owned.num_ids);
  for (std::size_t i = 0; i < seen.features.size(); ++i) {
    for (std::size_t rank = 0; rank < exchange.parts(); ++rank) {
      const auto part = exchange.part(i, rank);
      for (std::size_t at = 0; at < part.rows * kDim; ++at) {
        part.vectors[at] = value_of(seen.features[i], part.first_row + at / kDim, at % kDim);
      }
    }
  }
  exchange.start_vectors();
  REQUIRE(exchange.wait());
  const std::size_t count = exchange.rows() * kDim;
  std::vector<float> gradients;
  std::vector<const float*> of_feature;
  for (std::size_t feature = 0; feature < features; ++feature) {
    for (std::size_t at = 0; at < count; ++at) {
      const float expected = value_of(feature, first + at / kDim, at % kDim);
      seen.vectors = seen.vectors && exchange.vectors(feature)[at] == expected;
      gradients.push_back(-expected);
    }
  }
  for (std::size_t feature = 0; feature < features; ++feature) {
    of_feature.push_back(gradients.data() + feature * count);
  }
  exchange.start_gradients(of_feature);
  REQUIRE(exchange.wait());
  for (std::size_t i = 0; i < seen.features.size(); ++i) {
    for (std::size_t rank = 0; rank < exchange.parts(); ++rank) {
      const auto part = exchange.part(i, rank);
      const float* all = exchange.gradients(i, rank);
      for (std::size_t at = 0; at < part.rows * kDim; ++at) {
        const float wanted = -value_of(seen.features[i], part.first_row + at / kDim, at % kDim);
        seen.gradients = seen.gradients && all[at] == wanted;
      }
    }
  }
  return seen;
}

}  // namespace

TEST_CASE("every owner sees the ids of the global batch in its order, on any number of ranks",
          "[trainer][ranks]") {
  const std::size_t ranks = GENERATE(std::size_t{1}, std::size_t{2}, std::size_t{3});
  const std::size_t features = GENERATE(std::size_t{5}, std::size_t{2});
  const std::size_t rows = GENERATE(std::size_t{12}, std::size_t{7}, std::size_t{1});
  const bool came_before = GENERATE(false, true);
  const std::size_t before = GENERATE(std::size_t{20}, std::size_t{1});
  auto collectives = test::ThreadCollective::make(static_cast<int>(ranks));
  std::vector<Seen> seen(ranks);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      VectorExchange exchange(*collectives[rank], owners_of(features, ranks), kDim);
      // A step of another size before it: it must leave no state.
      static_cast<void>(step(exchange, features, rank * before, (rank + 1) * before));
      const Dealt dealt(exchange.owned(), rows);
      seen[rank] = step(exchange, features, rank * rows / ranks, (rank + 1) * rows / ranks,
                        came_before ? &dealt : nullptr);
    });
  }
  for (std::thread& thread : threads) thread.join();

  std::size_t owned = 0;
  for (const Seen& each : seen) {
    CHECK(each.vectors);
    CHECK(each.gradients);
    owned += each.features.size();
    std::vector<std::int32_t> lengths;
    std::vector<std::int64_t> ids;
    const ExchangedRows global(features, 0, rows);
    std::size_t id = 0;
    for (std::size_t feature = 0; feature < features; ++feature) {
      const bool ours = std::ranges::count(each.features, feature) > 0;
      for (std::size_t row = 0; row < rows; ++row) {
        const std::int32_t length = global.lengths[feature * rows + row];
        if (ours) lengths.push_back(length);
        for (std::int32_t i = 0; i < length; ++i, ++id) {
          if (ours) ids.push_back(global.ids[id]);
        }
      }
    }
    CHECK(each.lengths == lengths);
    CHECK(each.ids == ids);
  }
  CHECK(owned == features);
}

TEST_CASE("ids announced before the step that name other rows are refused", "[trainer][ranks]") {
  auto collectives = test::ThreadCollective::make(2);
  VectorExchange exchange(*collectives[0], {0, 1}, kDim);
  const ExchangedRows mine(2, 0, 4);
  CHECK(exchange.take_ids(Dealt({0}, 8).rows.batch, mine.batch));
  CHECK_FALSE(exchange.take_ids(Dealt({0}, 12).rows.batch, mine.batch));
  CHECK_FALSE(exchange.take_ids(Dealt({0, 1}, 8).rows.batch, mine.batch));
}

TEST_CASE("a rank that is lost in the middle of an exchange is named to the others",
          "[trainer][ranks]") {
  auto collectives = test::ThreadCollective::make(2);
  VectorExchange exchange(*collectives[0], {0, 1}, kDim);
  collectives[1].reset();
  const ExchangedRows mine(2, 0, 4);
  auto failed = exchange.exchange_ids(mine.batch);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message == "rank 1 was lost");
}
