#include "trainer/ranks/vector_exchange.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <thread>

#include "core/base/random.h"
#include "core/data/batch_lists.h"
#include "tests/support/thread_collective.h"
#include "trainer/ranks/id_exchange.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

constexpr std::size_t kDim = 3;

/// Rows with the same key have the same list of a feature: neighbours of odd ones, none of others.
std::size_t key_of(std::size_t feature, std::size_t row) {
  return feature % 2 == 1 ? row / 3 : row;
}

std::vector<std::int64_t> list_of(std::size_t feature, std::size_t row) {
  const std::size_t key = key_of(feature, row);
  std::vector<std::int64_t> list(mix64(feature, key) % 4);
  for (std::size_t i = 0; i < list.size(); ++i) {
    list[i] = static_cast<std::int64_t>(feature * 10000 + key * 10 + i);
  }
  return list;
}

float value_of(std::size_t feature, std::size_t row, std::size_t i) {
  return static_cast<float>(feature * 10000 + key_of(feature, row) * 10 + i);
}

/// Ids of some rows, with memory of their own. With `shares` the lists of odd features are stored
/// once for the rows of one rank that share them.
struct ExchangedRows {
  std::vector<std::int32_t> lengths;
  std::vector<std::int64_t> ids;
  OwnedRepeats repeats;
  Batch batch;

  /// Rows [borders[0], borders.back()) of a made-up global batch, of which each rank has
  /// [borders[r], borders[r + 1]).
  ExchangedRows(const std::vector<std::size_t>& features, const std::vector<std::size_t>& borders,
                bool shares) {
    batch.rows = borders.back() - borders.front();
    batch.sparse_features = features.size();
    batch.lists_once = shares;
    const std::vector<std::uint32_t> numbers = keys(borders);
    const BatchRepeats all{.features = {},
                           .unique = numbers.empty() ? 0 : numbers.back() + 1,
                           .numbers = numbers.data()};
    for (std::size_t rank = 0; rank + 1 < borders.size(); ++rank) {
      repeats.append(all, borders[rank] - borders[0], borders[rank + 1] - borders[0]);
    }
    FeatureGroup group;
    for (std::size_t i = 0; i < features.size(); ++i) {
      const bool is_shared = shares && features[i] % 2 == 1;
      if (is_shared) group.sparse.push_back(i);
      append(features[i], borders.front(), is_shared);
    }
    if (shares) batch.repeats.push_back(repeats.of(group));
    batch.num_ids = ids.size();
    batch.lengths = lengths.data();
    batch.ids = ids.data();
  }

  /// The keys of the rows of odd features, from 0.
  static std::vector<std::uint32_t> keys(const std::vector<std::size_t>& borders) {
    std::vector<std::uint32_t> numbers;
    for (std::size_t row = borders.front(); row < borders.back(); ++row) {
      numbers.push_back(static_cast<std::uint32_t>(row / 3 - borders.front() / 3));
    }
    return numbers;
  }

  void append(std::size_t feature, std::size_t first, bool is_shared) {
    for (std::size_t row = 0; row < batch.rows; ++row) {
      const auto list = list_of(feature, first + row);
      lengths.push_back(static_cast<std::int32_t>(list.size()));
      const auto& firsts = repeats.first_rows();
      if (is_shared && std::ranges::find(firsts, row) == firsts.end()) continue;
      ids.insert(ids.end(), list.begin(), list.end());
    }
  }
};

FeatureOwners owners_of(std::size_t features, std::size_t ranks) {
  std::vector<int> owners;
  for (std::size_t i = 0; i < features; ++i) owners.push_back(static_cast<int>(i * i % ranks));
  return {owners, static_cast<int>(ranks)};
}

std::vector<std::size_t> counted(std::size_t features) {
  std::vector<std::size_t> all(features);
  for (std::size_t i = 0; i < features; ++i) all[i] = i;
  return all;
}

std::vector<std::size_t> counts_of(const BatchLists& lists) {
  std::vector<std::size_t> counts;
  for (std::size_t i = 0; i < lists.features(); ++i) counts.push_back(lists.count(i));
  return counts;
}

/// Whether the batch has the lists of rows [0, rows) of these features.
bool has_lists(const Batch& batch, const std::vector<std::size_t>& features, std::size_t rows) {
  const BatchLists lists(batch);
  if (batch.rows != rows || lists.features() != features.size()) return false;
  if (!are_sound(batch.repeats, rows)) return false;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const auto ids = lists.ids(i);
    for (std::size_t row = 0; row < rows; ++row) {
      const auto list = list_of(features[i], row);
      if (!std::ranges::equal(ids[lists.number(i, row)], list)) return false;
      if (batch.lengths[i * rows + row] != static_cast<std::int32_t>(list.size())) return false;
    }
  }
  return true;
}

/// One rank of several that train on rows 0 to borders.back().
class ExchangingRank {
 public:
  ExchangingRank(Collective& ranks, std::size_t features, std::vector<std::size_t> borders)
      : rank_(static_cast<std::size_t>(ranks.rank())),
        features_(features),
        borders_(std::move(borders)),
        ids_(ranks, owners_of(features, borders_.size() - 1)),
        vectors_(ranks, owners_of(features, borders_.size() - 1), kDim) {}

  std::size_t owned() const { return vectors_.owned().size(); }

  /// A step; `came_before`: the ids were announced. Returns what went wrong.
  std::string step(bool shares, bool came_before) {
    const ExchangedRows mine(counted(features_), {borders_[rank_], borders_[rank_ + 1]}, shares);
    const ExchangedRows dealt(vectors_.owned(), borders_, shares);
    const BatchLists lists(mine.batch);
    const Batch& ids = came_before ? dealt.batch : **ids_.exchange(mine.batch);
    if (!has_lists(ids, vectors_.owned(), borders_.back())) return "the ids are wrong";
    if (!came_before && ids_.first_rows() != borders_) return "the borders are wrong";
    if (!vectors_.begin({ids, BatchLists(ids), borders_, counts_of(lists)}))
      return "the step was refused";
    fill(ids);
    vectors_.start_vectors();
    REQUIRE(vectors_.wait());
    return bring_back(lists) ? check_gradients(ids) : "the vectors are wrong";
  }

 private:
  std::size_t row_of(const BatchLists& lists, std::size_t feature, std::size_t list) const {
    const BatchRepeats* repeats = lists.repeats(feature);
    return repeats == nullptr ? list : repeats->first_rows[list];
  }

  void fill(const Batch& ids) {
    const BatchLists lists(ids);
    for (std::size_t i = 0; i < owned(); ++i) {
      for (std::size_t rank = 0; rank < vectors_.parts(); ++rank) {
        const auto part = vectors_.part(i, rank);
        for (std::size_t at = 0; at < part.lists * kDim; ++at) {
          const std::size_t row = row_of(lists, i, part.first_list + at / kDim);
          part.vectors[at] = value_of(vectors_.owned()[i], row, at % kDim);
        }
      }
    }
  }

  bool bring_back(const BatchLists& lists) {
    bool right = true;
    std::vector<std::vector<float>> gradients(features_);
    std::vector<const float*> of_feature;
    for (std::size_t feature = 0; feature < features_; ++feature) {
      for (std::size_t at = 0; at < lists.count(feature) * kDim; ++at) {
        const std::size_t row = borders_[rank_] + row_of(lists, feature, at / kDim);
        const float expected = value_of(feature, row, at % kDim);
        right = right && vectors_.vectors(feature)[at] == expected;
        gradients[feature].push_back(-expected);
      }
      of_feature.push_back(gradients[feature].data());
    }
    vectors_.start_gradients(of_feature);
    REQUIRE(vectors_.wait());
    sent_ = std::move(gradients);
    return right;
  }

  std::string check_gradients(const Batch& ids) {
    const BatchLists lists(ids);
    for (std::size_t i = 0; i < owned(); ++i) {
      for (std::size_t rank = 0; rank < vectors_.parts(); ++rank) {
        const auto part = vectors_.part(i, rank);
        const float* all = vectors_.gradients(i, rank);
        for (std::size_t at = 0; at < part.lists * kDim; ++at) {
          const std::size_t row = row_of(lists, i, part.first_list + at / kDim);
          if (all[at] != -value_of(vectors_.owned()[i], row, at % kDim)) {
            return "the gradients are wrong";
          }
        }
      }
    }
    return "";
  }

  const std::size_t rank_;
  const std::size_t features_;
  const std::vector<std::size_t> borders_;
  IdExchange ids_;
  VectorExchange vectors_;
  std::vector<std::vector<float>> sent_;
};

/// Rank 1 of two, which sends these sizes and then these bytes whatever it has.
std::string refusal_of(std::vector<std::uint64_t> sizes, std::vector<std::uint32_t> numbers) {
  auto collectives = test::ThreadCollective::make(2);
  std::thread other([&] {
    Collective& ranks = *collectives[1];
    const auto send = [&](std::span<const std::byte> bytes, std::size_t received) {
      std::vector<std::byte> in(received);
      const std::size_t send_bytes[] = {bytes.size(), 0};
      const std::size_t receive_bytes[] = {received, 0};
      return ranks.start_all_to_all({bytes, send_bytes, in, receive_bytes})->wait();
    };
    if (!send(std::as_bytes(std::span(sizes)), sizeof(std::uint64_t))) return;
    static_cast<void>(send(std::as_bytes(std::span(numbers)), 0));
  });
  IdExchange ids(*collectives[0], {{0}, 2});
  const ExchangedRows mine({1}, {0, 0}, false);
  const auto exchanged = ids.exchange(mine.batch);
  collectives[0].reset();
  other.join();
  return exchanged ? "" : exchanged.error().message;
}

}  // namespace

TEST_CASE("every owner sees the lists of the global batch in its order, on any number of ranks",
          "[trainer][ranks]") {
  const std::size_t ranks = GENERATE(std::size_t{1}, std::size_t{2}, std::size_t{3});
  const std::size_t features = GENERATE(std::size_t{5}, std::size_t{2});
  const std::size_t rows = GENERATE(std::size_t{12}, std::size_t{7}, std::size_t{1});
  const bool came_before = GENERATE(false, true);
  const bool shares = GENERATE(false, true);
  const auto borders_of = [ranks](std::size_t all) {
    std::vector<std::size_t> borders(1, 0);
    for (std::size_t rank = 1; rank <= ranks; ++rank) borders.push_back(rank * all / ranks);
    return borders;
  };
  auto collectives = test::ThreadCollective::make(static_cast<int>(ranks));
  std::vector<std::string> wrong(ranks);
  std::vector<std::size_t> owned(ranks);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      ExchangingRank each(*collectives[rank], features, borders_of(rows));
      // A step of the other kind before it: it must leave no state.
      wrong[rank] = each.step(!shares, false);
      wrong[rank] += each.step(shares, came_before);
      owned[rank] = each.owned();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<std::string>(ranks));
  CHECK(std::accumulate(owned.begin(), owned.end(), std::size_t{0}) == features);
}

TEST_CASE("ranks whose rows share lists and ranks whose rows share none take part in one step",
          "[trainer][ranks]") {
  const std::size_t end =
      GENERATE(std::size_t{7}, std::size_t{12});  // The other has no rows, or 5.
  auto collectives = test::ThreadCollective::make(2);
  std::string wrong;
  std::thread other([&] {
    ExchangingRank each(*collectives[1], 3, {0, 7, end});
    wrong = each.step(false, false);
  });
  ExchangingRank each(*collectives[0], 3, {0, 7, end});
  CHECK(each.step(true, false).empty());
  other.join();
  CHECK(wrong.empty());
}

TEST_CASE("ids announced before the step that name other rows or lists are refused",
          "[trainer][ranks]") {
  auto collectives = test::ThreadCollective::make(2);
  VectorExchange exchange(*collectives[0], {{0, 0}, 2}, kDim);
  const ExchangedRows mine({0, 1}, {0, 4}, true);
  const auto lists = counts_of(BatchLists(mine.batch));
  CHECK(lists == std::vector<std::size_t>{4, 2});
  const auto begin = [&](const std::vector<std::size_t>& features, bool shares, std::size_t end) {
    const ExchangedRows dealt(features, {0, 4, end}, shares);
    const std::vector<std::size_t> first_rows{0, 4, 8};
    return exchange.begin({dealt.batch, BatchLists(dealt.batch), first_rows, lists});
  };
  CHECK(begin({0, 1}, true, 8));
  CHECK_FALSE(begin({0, 1}, true, 12));
  CHECK_FALSE(begin({0}, true, 8));
  CHECK_FALSE(begin({0, 1}, false, 8));
}

TEST_CASE("a rank that is lost in the middle of an exchange is named to the others",
          "[trainer][ranks]") {
  auto collectives = test::ThreadCollective::make(2);
  IdExchange exchange(*collectives[0], {{0, 1}, 2});
  collectives[1].reset();
  const ExchangedRows mine({0, 1}, {0, 4}, false);
  auto failed = exchange.exchange(mine.batch);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message == "rank 1 was lost");
}

TEST_CASE("what another rank sends is used only if it is what it announced", "[trainer][ranks]") {
  const std::string other = "rank 1 sent other lists than it announced";
  // Two rows of one feature that share one list of no ids: the list's length, and the rows' lists.
  CHECK(refusal_of({2, 1, 0}, {0, 0, 0, 0}).empty());
  CHECK(refusal_of({2, 1, 0}, {0, 0, 1, 0}) == other);
  CHECK(refusal_of({2, 2, 0}, {0, 0, 0, 0}) == other);
  CHECK(refusal_of({2, 2, 0}, {0, 0, 1, 0}) == other);
  CHECK(refusal_of({2, 1, 0}, {1, 0, 0, 0}) == other);
  CHECK(refusal_of({2, 2, 0}, {5, ~4U, 0, 1}) == other);
  CHECK(refusal_of({2, 3, 0}, {}) == "rank 1 is at another operation");
  CHECK(refusal_of({std::uint64_t{1} << 41, 1, 0}, {}) == "rank 1 is at another operation");
  CHECK(refusal_of({2, 1, std::uint64_t{1} << 41}, {}) == "rank 1 is at another operation");
}
