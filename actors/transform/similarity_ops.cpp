#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actors/transform/op_table.h"

namespace forebay {
namespace {

/// One id of a list with its scores: their sum, minimum and maximum over the id's repeats.
struct Scored {
  std::int64_t id = 0;
  std::size_t place = 0;  ///< Index in the list, so that sums run in the list's order.
  double sum = 0;
  double least = 0;
  double greatest = 0;
  double count = 1;
};

using ScoredIds = std::span<Scored>;

/// Merges the repeats of each id; the result ascends by id.
ScoredIds join_repeats(ScoredIds scored) {
  std::sort(scored.begin(), scored.end(), [](const Scored& a, const Scored& b) {
    return a.id != b.id ? a.id < b.id : a.place < b.place;
  });
  std::size_t kept = 0;
  for (const Scored& next : scored) {
    if (kept > 0 && scored[kept - 1].id == next.id) {
      Scored& last = scored[kept - 1];
      last.sum += next.sum;
      last.count += next.count;
      last.least = std::min(last.least, next.least);
      last.greatest = std::max(last.greatest, next.greatest);
    } else {
      scored[kept++] = next;
    }
  }
  return scored.first(kept);
}

/// Calls `visit(a, b)` for each id that is in both lists, ascending.
template <class Visit>
void for_common(ScoredIds a, ScoredIds b, Visit visit) {
  std::size_t j = 0;
  for (const Scored& mine : a) {
    while (j < b.size() && b[j].id < mine.id) ++j;
    if (j < b.size() && b[j].id == mine.id) visit(mine, b[j]);
  }
}

using Score = double (*)(ScoredIds, ScoredIds);

double id_overlap_count(ScoredIds a, ScoredIds b) {
  double sum = 0;
  for_common(a, b, [&](const auto& x, const auto& y) { sum += std::min(x.count, y.count); });
  return sum;
}

double has_id_overlap(ScoredIds a, ScoredIds b) { return id_overlap_count(a, b) > 0 ? 1 : 0; }

double get_max_count(ScoredIds a, ScoredIds b) {
  double sum = 0;
  for_common(a, b, [&](const auto& x, const auto& y) { sum += std::max(x.count, y.count); });
  return sum;
}

double length(ScoredIds ids) {
  double sum = 0;
  for (const Scored& id : ids) sum += id.count;
  return sum;
}

double jaccard(ScoredIds a, ScoredIds b) {
  const double both = id_overlap_count(a, b);
  const double either = length(a) + length(b) - both;
  return either > 0 ? both / either : 0;
}

double square_sum(ScoredIds ids) {
  double sum = 0;
  for (const Scored& id : ids) sum += id.sum * id.sum;
  return sum;
}

double cosine(ScoredIds a, ScoredIds b) {
  double product = 0;
  for_common(a, b, [&](const auto& x, const auto& y) { product += x.sum * y.sum; });
  const double a_square = square_sum(a);
  const double b_square = square_sum(b);
  if (!(a_square > 0 && b_square > 0)) return 0;
  // A square root is exact by IEEE 754, unlike the rest of libm.
  return product / std::sqrt(a_square) / std::sqrt(b_square);
}

double score_sum(ScoredIds a, ScoredIds b) {
  double sum = 0;
  for_common(a, b, [&](const auto&, const auto& y) { sum += y.sum; });
  return sum;
}

double score_min(ScoredIds a, ScoredIds b) {
  double least = HUGE_VAL;
  for_common(a, b, [&](const auto&, const auto& y) { least = std::min(least, y.least); });
  return least == HUGE_VAL ? 0 : least;
}

double score_max(ScoredIds a, ScoredIds b) {
  double greatest = -HUGE_VAL;
  for_common(a, b, [&](const auto&, const auto& y) { greatest = std::max(greatest, y.greatest); });
  return greatest == -HUGE_VAL ? 0 : greatest;
}

/// A list column and the column of its scores; without a score column each id scores 1.
struct ScoredColumn {
  std::size_t ids = 0;
  std::size_t scores = 0;
  bool has_scores = false;
};

class SimilarityStep final : public TransformPlan::Step {
 public:
  SimilarityStep(ScoredColumn input, ScoredColumn matching, ColumnTarget target, Score score)
      : input_(input), matching_(matching), target_(target), score_(score) {}

  // It fails where a row has another number of scores than of ids.
  StepFacts facts() const override {
    StepFacts facts{.writes = {{ColumnKind::kDense, target_.to}},
                    .missing = StepFacts::Missing::kNone,
                    .may_fail = input_.has_scores || matching_.has_scores,
                    .inflates = true,
                    .cost = 100};
    for (const ScoredColumn& column : {input_, matching_}) {
      facts.reads.push_back({ColumnKind::kSparse, column.ids});
      if (column.has_scores) facts.reads.push_back({ColumnKind::kSparse, column.scores});
    }
    if (target_.drop_source) facts.writes.push_back({ColumnKind::kSparse, target_.from});
    return facts;
  }

  Status run(StepRun& run) const override {
    const std::size_t rows = run.columns.rows;
    std::size_t longest = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      longest = std::max(longest, ids_of(run.columns.sparse[input_.ids], row).size() +
                                      ids_of(run.columns.sparse[matching_.ids], row).size());
    }
    const Buffer memory = run.context.pool.take(longest * sizeof(Scored));
    float* result = hold_dense(run);
    for (std::size_t row = 0; row < rows; ++row) {
      auto a = read(run, input_, row, memory.as<Scored>());
      if (!a) return pass(a);
      auto b = read(run, matching_, row, memory.as<Scored>() + a->size());
      if (!b) return pass(b);
      result[row] = static_cast<float>(score_(join_repeats(*a), join_repeats(*b)));
    }
    put_column(run.columns.dense, target_.to, result);
    if (target_.drop_source) run.columns.sparse[target_.from] = {};
    return {};
  }

  void bound(SizeBound& size) const override {
    const std::size_t sources[] = {input_.ids, matching_.ids};
    size.hold_dense();
    size.borrow(size.ids(sources) * sizeof(Scored));
  }

  bool needs_origins() const override { return input_.has_scores || matching_.has_scores; }

 private:
  static Result<ScoredIds> read(const StepRun& run, const ScoredColumn& column, std::size_t row,
                                Scored* to) {
    const auto ids = ids_of(run.columns.sparse[column.ids], row);
    std::span<const std::int64_t> scores;
    if (column.has_scores) {
      scores = ids_of(run.columns.sparse[column.scores], row);
      if (scores.size() != ids.size()) {
        return fail(Code::kInvalid, run.row_name(row) + ": " + std::to_string(ids.size()) +
                                        " ids have " + std::to_string(scores.size()) + " scores");
      }
    }
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const double score = column.has_scores ? static_cast<double>(scores[i]) : 1.0;
      to[i] = {ids[i], i, score, score, score, 1.0};
    }
    return ScoredIds(to, ids.size());
  }

  ScoredColumn input_;
  ScoredColumn matching_;
  ColumnTarget target_;
  Score score_;
};

ScoredColumn scored_column(OpInput& input, std::size_t ids, const std::string& key) {
  ScoredColumn column{ids, 0, input.params.has(key)};
  if (column.has_scores) {
    column.scores = input.columns.sparse_named(key, input.params.text(key));
  }
  return column;
}

template <Score kScore>
Steps make_similarity(OpInput& input) {
  const auto pair = input.columns.sparse_pair();
  Steps steps;
  if (pair.empty()) return steps;
  const ScoredColumn first = scored_column(input, pair[0], "scores");
  const ScoredColumn second = scored_column(input, pair[1], "matching_scores");
  const auto targets = input.columns.results(ColumnKind::kSparse, {pair[0]}, ColumnKind::kDense);
  if (targets.empty()) return steps;
  steps.push_back(std::make_unique<SimilarityStep>(first, second, targets.front(), kScore));
  return steps;
}

template <Score kScore>
OpEntry entry(const std::string& name, const std::string& summary,
              std::vector<std::string> params) {
  std::string shown;
  for (const std::string& param : params) shown += (shown.empty() ? "" : ", ") + param;
  if (!shown.empty()) shown += " (a sparse column with a score for each id; default 1)";
  params.emplace_back("output");
  return {{name, "2 sparse", "one dense", shown, summary, "nothing in common gives 0"},
          std::move(params),
          make_similarity<kScore>};
}

}  // namespace

std::vector<OpEntry> similarity_ops() {
  return {
      entry<has_id_overlap>("has_id_overlap", "1 if the lists share an id, else 0", {}),
      entry<id_overlap_count>("id_overlap_count",
                              "the ids shared, repeats counted as often as "
                              "both have them",
                              {}),
      entry<get_max_count>("get_max_count",
                           "over the ids shared, the greater of their counts, "
                           "summed",
                           {}),
      entry<jaccard>("jaccard", "ids shared over ids in either, repeats counted", {}),
      entry<cosine>("cosine", "cosine of the lists' summed scores by id",
                    {"scores", "matching_scores"}),
      entry<score_sum>("score_sum", "the second list's scores of the ids shared, summed",
                       {"matching_scores"}),
      entry<score_min>("score_min", "the least of the second list's scores of the ids shared",
                       {"matching_scores"}),
      entry<score_max>("score_max", "the greatest of the second list's scores of the ids shared",
                       {"matching_scores"}),
  };
}

}  // namespace forebay
