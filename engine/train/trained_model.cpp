#include "engine/train/trained_model.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/text/mib.h"
#include "core/base/thread/start_thread.h"
#include "engine/process/memory_use.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/module.h"
#include "trainer/ranks/placement.h"
#include "trainer/ranks/vector_exchange.h"
#include "trainer/repeated_bytes.h"

namespace forebay {
namespace {

/// Describes the sizes of the tables, the largest first, and how to reduce them.
std::string describe_tables(const TrainerSpec& spec, const ModelShape& shape,
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

/// Bytes of this rank's tables, plus the bytes that only training with several ranks needs.
std::uint64_t bytes_together(const JobSpec& job, const ModelShape& shape,
                             const BatchColumns& columns, const Collective& ranks) {
  const Schema& schema = columns.schema;
  const TablePlacement placement = place_tables(job.trainer, shape, ranks.size());
  const ModelShape replicas = replicas_of(shape, placement);
  const TrainerSpec spec = spec_of_shards(job.trainer, shape, placement, ranks.rank());
  const auto size = static_cast<std::uint64_t>(ranks.size());
  const std::uint64_t rows = (job.order.batch_size + size - 1) / size;
  const std::uint64_t width = shape.row_width();
  // Ids prefetched before their step, ids of the current step, and ids being divided. For
  // replicated tables: the pooled vectors of this rank's rows, and the gradient sums of whole
  // tables. For columns that repeat: the lists of rows, also as rank 0 divides them for each rank,
  // and the gradients of lists.
  const std::uint64_t ids = columns.ids.all;
  std::uint64_t repeated = 0;
  for (const FeatureGroup& group : schema.repeated) repeated += group.sparse.size();
  const std::uint64_t lists = 2 * job.order.batch_size * schema.repeated.size();
  const std::uint64_t floats =
      rows * replicas.table_rows.size() * width + replicas.table_parameters();
  return table_bytes(spec, shards_of(shape, placement, ranks.rank())) +
         table_bytes(spec_of_replicas(job.trainer), replicas) + floats * sizeof(float) +
         rows * repeated * width * (sizeof(float) + sizeof(double)) +
         (kMostExpectedBatches + 2) * ids * (sizeof(std::int64_t) + sizeof(std::int32_t)) +
         (kMostExpectedBatches + 2 + size) * lists * sizeof(std::uint32_t) +
         ExchangeSize{.features = placement.shards.size(),
                      .ranks = static_cast<std::size_t>(size),
                      .dim = width,
                      .rows = job.order.batch_size,
                      .ids = ids}
             .bytes();
}

/// Checks that this rank's tables have the memory that a batch of all ranks needs; the error gives
/// the sizes.
Status check_own_tables(const JobSpec& job, const ModelShape& shape, const MostIds& ids,
                        const Collective* ranks) {
  const TrainerSpec& spec = job.trainer;
  if (ranks == nullptr) return check_tables(spec, shape, ids);
  if (!forebay::learns(spec.model) || spec.tables.storage != TrainerSpec::Storage::kTiered)
    return {};
  const TablePlacement placement = place_tables(spec, shape, ranks->size());
  const ModelShape replicas = replicas_of(shape, placement);
  const std::uint64_t bytes = table_bytes(spec_of_replicas(spec), replicas);
  if (bytes > spec.tables.memory_bytes) {
    return fail(Code::kOverloaded,
                "trainer.tables.memory = " + in_mib(spec.tables.memory_bytes) + ", and the " +
                    std::to_string(replicas.table_rows.size()) +
                    " tables that every rank has take " + in_mib(bytes) +
                    "; raise it, or have trainer.tables.placement = \"table\" or \"row\"");
  }
  const ModelShape own = shards_of(shape, placement, ranks->rank());
  return check_tables(spec_of_shards(spec, shape, placement, ranks->rank()), own, ids);
}

/// Removes the tables of ranks beyond the current number, and those of a single trainer.
void clear_tables_of_others(const TrainerSpec& spec, int ranks) {
  namespace fs = std::filesystem;
  std::set<std::string> kept;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string own = fs::path(tables_folder(spec, rank)).filename();
    kept.insert({own, own + ".snapshot", own + ".whole"});
  }
  std::vector<fs::path> gone;
  std::error_code ignored;  // Another rank on this machine may remove the same files.
  for (fs::directory_iterator file(spec.tables.folder, ignored), end; !ignored && file != end;
       file.increment(ignored)) {
    if (!kept.contains(file->path().filename().string())) gone.push_back(file->path());
  }
  for (const fs::path& path : gone) fs::remove_all(path, ignored);
}

}  // namespace

void remove_tables(const TrainerSpec& spec, const Collective* ranks) {
  if (spec.tables.storage != TrainerSpec::Storage::kTiered) return;
  std::error_code ignored;  // Files that remain are removed by the next run.
  const std::string folder =
      ranks == nullptr ? spec.tables.folder : tables_folder(spec, ranks->rank());
  std::filesystem::remove_all(folder, ignored);
}

Status check_model(const JobSpec& job) {
  // Any columns do: those of the dataset are checked when the model is made.
  auto shape = shape_of(job.trainer, {.dense = {"any"}, .sparse = {}});
  return shape ? Status() : Status(pass(shape));
}

Result<TrainedModel> make_trained_model(const JobSpec& job, const BatchColumns& columns,
                                        Collective* ranks, const Fits& fits, std::uint64_t beside) {
  const Schema& schema = columns.schema;
  auto shape = shape_of(job.trainer, schema);
  if (!shape) return pass(shape);
  const bool learns = forebay::learns(job.trainer.model);
  std::uint64_t wanted = model_bytes(job.trainer, *shape, job.order.batch_size, columns.ids);
  if (ranks == nullptr) {
    wanted += repeated_bytes(job.trainer, *shape, schema, job.order.batch_size);
  } else if (learns) {
    wanted += bytes_together(job, *shape, columns, *ranks);
    wanted -= std::min(wanted, table_bytes(job.trainer, *shape));
  }
  const std::uint64_t expected = resident_bytes() + (learns ? kTorchBytes + wanted : 0);
  if (auto checked = check_own_tables(job, *shape, columns.ids, ranks); !checked)
    return pass(checked);
  if (auto room = fits(expected + beside); !room) {
    Error error = room.error();
    if (beside > 0) {
      error.message += "; " + in_mib(beside) +
                       " of it are for evaluations in the middle of the run: "
                       "trainer.evaluate_every = 0 needs none";
    }
    if (learns) error.message += describe_tables(job.trainer, *shape, schema);
    return tl::unexpected<Error>(std::move(error));
  }
  const bool tiered = job.trainer.tables.storage == TrainerSpec::Storage::kTiered;
  if (tiered && ranks != nullptr) clear_tables_of_others(job.trainer, ranks->size());
  // OpenBLAS, libgomp and libtorch end the process if they cannot start their threads.
  const auto threads =
      static_cast<std::size_t>(job.pipeline.cpus) + static_cast<std::size_t>(job.trainer.threads);
  if (auto enough = check_threads(threads, "the model"); learns && !enough) return pass(enough);
  auto model = make_model(job.trainer, *shape, ranks);
  if (!model) return pass(model);
  const std::uint64_t largest = expected - (learns ? kTorchBytes : 0);
  return TrainedModel{std::move(*model), std::max(forebay::resident_bytes(), largest)};
}

}  // namespace forebay
