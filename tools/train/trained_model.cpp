#include "tools/train/trained_model.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tools/process/memory_use.h"
#include "trainer/embedding/make_tables.h"
#include "trainer/module.h"
#include "trainer/ranks/placement.h"
#include "trainer/ranks/vector_exchange.h"

namespace forebay {
namespace {

/// What loading libtorch takes before any model is made, as measured with 1.13 and 2.x on the CPU.
constexpr std::uint64_t kTorchBytes = std::uint64_t{180} << 20;

std::string in_mib(std::uint64_t bytes) {
  return std::to_string((bytes >> 20) + (bytes % (1 << 20) != 0 ? 1 : 0)) + " MiB";
}

/// What the tables take, the largest first, and what can be done about it.
std::string tables_in_words(const TrainerSpec& spec, const ModelShape& shape,
                            const Schema& schema) {
  constexpr std::size_t kNamed = 3;
  const std::uint64_t all = table_bytes(spec, shape);
  std::string text = "; of that the tables take " + in_mib(all);
  if (spec.tables.storage == TrainerSpec::Storage::kTiered) {
    return text + " (trainer.tables.memory)";
  }
  std::vector<std::size_t> features(shape.table_rows.size());
  std::iota(features.begin(), features.end(), std::size_t{0});
  std::ranges::stable_sort(features, std::greater{},
                           [&](std::size_t feature) { return shape.table_rows[feature]; });
  const double row = static_cast<double>(all) * static_cast<double>(shape.row_width()) /
                     static_cast<double>(std::max<std::uint64_t>(shape.table_parameters(), 1));
  for (std::size_t i = 0; i < std::min(kNamed, features.size()); ++i) {
    const std::int64_t rows = shape.table_rows[features[i]];
    text += (i == 0 ? ": " : ", ") + schema.sparse[features[i]].name + " " +
            in_mib(static_cast<std::uint64_t>(row * static_cast<double>(rows))) + " in " +
            std::to_string(rows) + " rows";
  }
  if (features.size() > kNamed) text += ", …";
  return text +
         "; lower trainer.max_table_rows or trainer.embedding_dim, or keep most of them on the "
         "disk "
         "with trainer.tables.storage = \"tiered\"";
}

/// This rank's tables, and what of several ranks' steps is not of one's.
std::uint64_t bytes_together(const JobSpec& job, const ModelShape& shape, const Collective& ranks,
                             std::uint64_t ids) {
  const TablePlacement placement = place_tables(job.trainer, shape, ranks.size());
  const ModelShape replicas = replicas_of(shape, placement);
  const auto size = static_cast<std::uint64_t>(ranks.size());
  const std::uint64_t rows = (job.order.batch_size + size - 1) / size;
  const std::uint64_t width = shape.row_width();
  // Of replicas: the pooled vectors of this rank's rows, and the sums of whole tables.
  const std::uint64_t floats =
      rows * replicas.table_rows.size() * width + replicas.table_parameters();
  return table_bytes(job.trainer, shards_of(shape, placement, ranks.rank())) +
         table_bytes(job.trainer, replicas) + floats * sizeof(float) +
         ids * (sizeof(std::int64_t) + sizeof(std::int32_t)) +
         VectorExchange::bytes_for(placement.shards.size(), static_cast<std::size_t>(size), width,
                                   job.order.batch_size, ids);
}

}  // namespace

Result<TrainedModel> make_trained_model(const JobSpec& job, const Schema& schema, Collective* ranks,
                                        const Fits& fits, std::uint64_t beside) {
  auto shape = shape_of(job.trainer, schema);
  if (!shape) return pass(shape);
  const bool learns = forebay::learns(job.trainer.model);
  const std::uint64_t ids = job.order.batch_size * schema.sparse.size();
  std::uint64_t wanted = model_bytes(job.trainer, *shape, job.order.batch_size, ids);
  if (learns && ranks != nullptr) {
    wanted += bytes_together(job, *shape, *ranks, ids);
    wanted -= std::min(wanted, table_bytes(job.trainer, *shape));
  }
  const std::uint64_t expected = resident_bytes() + (learns ? kTorchBytes + wanted : 0);
  if (auto checked = check_tables(job.trainer, *shape, ids); !checked) return pass(checked);
  if (auto room = fits(expected + beside); !room) {
    Error error = room.error();
    if (beside > 0) {
      error.message += "; " + in_mib(beside) +
                       " of it are for evaluations in the middle of the run: "
                       "trainer.evaluate_every = 0 needs none";
    }
    if (learns) error.message += tables_in_words(job.trainer, *shape, schema);
    return tl::unexpected<Error>(std::move(error));
  }
  auto model = make_model(job.trainer, *shape, ranks);
  if (!model) return pass(model);
  const std::uint64_t largest = expected - (learns ? kTorchBytes : 0);
  return TrainedModel{std::move(*model), std::max(forebay::resident_bytes(), largest)};
}

}  // namespace forebay
