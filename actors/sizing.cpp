#include "actors/sizing.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "actors/stage/split_assembly.h"
#include "core/base/text/mib.h"
#include "core/data/buffer_pool.h"
#include "core/data/repeated_columns.h"

namespace forebay {
namespace {

/// The smallest window: one split or, if splits are made in parts, one of them and one part.
std::uint64_t least_window(const MemorySizes& sizes) { return sizes.held + sizes.largest_split; }

/// Besides it the batch being cut, the batch that the trainer holds and one waiting batch.
std::uint64_t least_buffers(const MemorySizes& sizes) {
  return least_window(sizes) + sizes.cutting + 2 * sizes.batch;
}

std::uint64_t wanted_window(const MemorySizes& sizes, const MemoryDemand& demand) {
  if (sizes.held == 0) return window_for(demand.actors + demand.elsewhere, demand.stages, sizes);
  return (sizes.splits_held + demand.elsewhere) * sizes.held +
         window_for(demand.actors, demand.stages, sizes);
}

std::uint64_t less(std::uint64_t whole, std::uint64_t part) {
  return whole > part ? whole - part : 0;
}

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kMostPrefetchByDefault = 256 * kMiB;

/// By which a process's memory at its start differs from time to time: a limit that an error names
/// has to do the next time, too.
constexpr std::uint64_t kStartsDiffer = 2 * kMiB;

}  // namespace

std::uint64_t threads_bytes(std::uint64_t actors) { return (actors + kOtherActors) * kThreadBytes; }

std::size_t batch_threads(int cpus) { return static_cast<std::size_t>(std::clamp(cpus / 4, 1, 4)); }

std::uint64_t children_bytes(const MemorySizes& sizes, const std::vector<std::uint32_t>& actors) {
  const std::size_t stages = std::min(sizes.children.size(), actors.size());
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < stages; ++i) bytes += actors[i] * sizes.children[i];
  return bytes;
}

std::uint64_t least_children(const MemorySizes& sizes) {
  return std::accumulate(sizes.children.begin(), sizes.children.end(), std::uint64_t{0});
}

std::uint64_t window_for(std::uint64_t actors, std::uint64_t stages, const MemorySizes& sizes) {
  return std::max((actors + 2 + stages) * sizes.usual_split, sizes.largest_split);
}

std::uint64_t least_room(std::uint64_t threads, const MemorySizes& sizes) {
  return threads_bytes(threads) + least_children(sizes) + least_buffers(sizes);
}

MemoryShares share_memory(std::uint64_t room, const MemorySizes& sizes,
                          const MemoryDemand& demand) {
  const std::uint64_t threads = threads_bytes(demand.threads) + demand.children;
  MemoryShares shares;
  shares.buffers = std::max(room > threads ? room - threads : 0, least_buffers(sizes));
  // Bytes left beside the batch being cut and the batch that the trainer holds.
  const std::uint64_t both = shares.buffers - sizes.cutting - sizes.batch;
  shares.window_wanted = std::max(wanted_window(sizes, demand), least_window(sizes));
  const std::uint64_t window = std::min(wanted_window(sizes, demand), both - sizes.batch);
  const std::uint64_t prefetch =
      std::clamp(demand.prefetch, sizes.batch, std::max(both - window, sizes.batch));
  shares.window = std::max(least_window(sizes),
                           std::min(window, less(both, std::max(prefetch, demand.prefetch_used))));
  shares.prefetch = std::max(
      sizes.batch, std::min(prefetch, less(both, std::max(shares.window, demand.window_used))));
  // While splits wait for a slow one before them, others are made here in memory that is left over.
  // Other nodes have as many as keep them busy: more would only be further away.
  const std::uint64_t more =
      demand.elsewhere == 0 ? demand.window_waiting + demand.deepened * sizes.usual_split : 0;
  const std::uint64_t taken = std::max({shares.prefetch, demand.prefetch, demand.prefetch_used});
  if (sizes.held == 0) {
    shares.window_wanted += more;
    shares.window += std::min(more, less(both, shares.window + taken));
  } else {
    shares.parts =
        std::min(window_for(demand.actors, demand.stages, sizes), less(shares.window, sizes.held));
    shares.window -= shares.parts;
  }
  return shares;
}

Sizing::Sizing(const Dataset& dataset, const TransformPlan& plan, const OrderSpec& order)
    : format_(dataset.format()),
      plan_(plan),
      in_grains_(dataset.in_grains()),
      permutes_rows_(order.shuffle != OrderSpec::Shuffle::kNone) {
  // The split whose parts are given out, and the next one. A split from a store takes about as long
  // to arrive as to be given out, so one more is on its way.
  sizes_.splits_held = dataset.is_remote() ? 3 : 2;
  const EpochOrder splits(dataset, order);
  // A split has as many parts as the first one, more or less.
  const std::uint64_t parts = parts_of(splits.blocks(0, 0));
  const auto with_spare = [](std::uint64_t part) { return part + part / 8; };
  const auto part_of = [parts, with_spare](const Extent& extent) {
    if (parts == 1) return extent;
    return Extent{.rows = with_spare(extent.rows / parts) + parts,
                  .bytes = extent.bytes / parts + 1,
                  .decoded = with_spare(extent.decoded / parts)};
  };
  Extent all{.rows = dataset.rows(), .bytes = dataset.bytes()};
  for (std::size_t i = 0; dataset.in_grains() && i < dataset.num_blocks(); ++i) {
    all.decoded += dataset.block(i).decoded;
  }
  const std::uint64_t num_splits = splits.num_splits();
  const Extent usual{.rows = all.rows / num_splits + 1,
                     .bytes = all.bytes / num_splits + 1,
                     .decoded = all.decoded / num_splits + 1};
  sizes_.rows = std::max<std::uint64_t>(dataset.rows() / num_splits / parts, 1);
  sizes_.usual_split = cost(part_of(usual));
  std::vector<Extent> largest = splits.largest();
  for (const Extent& extent : largest) {
    sizes_.largest_split = std::max(sizes_.largest_split, cost(part_of(extent)));
    if (in_grains_) sizes_.held = std::max(sizes_.held, held(extent));
  }
  sizes_.largest_split = std::max(sizes_.largest_split, sizes_.usual_split);
  for (const StageInfo& stage : plan.stages()) {
    sizes_.children.push_back(plan.actor_bytes(stage));
  }
  const Schema& schema = plan.output();
  const std::uint64_t row = sizeof(float) * (1 + schema.dense.size()) +
                            (sizeof(std::int32_t) + sizeof(std::int64_t)) * schema.sparse.size() +
                            (schema.weight ? sizeof(float) : 0) +
                            sizeof(std::int64_t) * schema.extra.size() +
                            2 * sizeof(std::uint32_t) * schema.repeated.size();
  const std::uint64_t rows = std::min<std::uint64_t>(order.batch_size, dataset.rows());
  largest.push_back(usual);
  most_ids_ = ids_of(rows, all, largest);
  sizes_.batch = pool_bytes(rows * row);
  sizes_.cutting = sizes_.batch + (rows / (sizes_.rows + 1) + 2) * sizes_.usual_split / 2;
}

MostIds Sizing::ids_of(std::uint64_t rows, const Extent& all,
                       const std::vector<Extent>& splits) const {
  const std::uint64_t of_all = format_.list_ids(all);
  std::vector<bool> lists;
  for (std::size_t i = 0; i < format_.schema().sparse.size(); ++i) {
    lists.push_back(of_all > 0 && format_.may_have_lists(i));
  }
  double densest = 0;
  for (const Extent& split : splits) {
    densest = std::max(densest, static_cast<double>(format_.list_ids(split)) /
                                    static_cast<double>(std::max<std::uint64_t>(split.rows, 1)));
  }
  const auto of_rows = static_cast<std::uint64_t>(densest * static_cast<double>(rows));
  return plan_.most_ids(rows, lists, std::min(of_all, of_rows + of_rows / 8 + 1));
}

// What repeated columns take beside the decoded ones.
std::uint64_t Sizing::stored_once(const Extent& extent) const {
  return stored_once_bytes(format_.schema(), extent.rows, format_.decoded_bytes(extent));
}

// Of a split in one message. A part takes less: its rows come from pieces that are counted beside
// it.
std::uint64_t Sizing::cost(const Extent& extent) const {
  const std::uint64_t decoded = format_.decoded_bytes(extent);
  const std::uint64_t while_decoding = extent.bytes + decoded;
  const std::uint64_t while_shuffling = 2 * (decoded + extent.rows * sizeof(std::uint32_t));
  const std::uint64_t while_transforming =
      plan_.peak_bytes(extent.rows, decoded) + stored_once(extent);
  return pool_bytes(std::max({while_decoding, while_shuffling, while_transforming}));
}

// All loaded pieces, which may be fetched ahead, and all decoded ones. If another node makes the
// split, its finished parts are here instead.
std::uint64_t Sizing::held(const Extent& extent) const {
  const std::uint64_t decoded = format_.decoded_bytes(extent);
  return pool_bytes(std::max<std::uint64_t>(
      extent.bytes + decoded, plan_.peak_bytes(extent.rows, decoded) + stored_once(extent)));
}

std::uint64_t Sizing::split_cost(const std::vector<BlockRef>& blocks) const {
  const Extent extent = Extent::of(blocks);
  return parts_of(blocks) > 1 ? held(extent) : cost(extent);
}

std::size_t Sizing::parts_of(const std::vector<BlockRef>& blocks) const {
  if (!in_grains_) return 1;
  return cut_split(blocks, format_.decoded_bytes(Extent::of(blocks)), permutes_rows_).parts;
}

Result<MemoryPlan> plan_memory(const PipelineSpec& spec, const Sizing& sizing,
                               std::uint64_t resident) {
  const std::uint64_t actors = spec.total_actors();
  const MemorySizes& sizes = sizing.sizes();
  const std::uint64_t threads = (actors + kOtherActors) * kThreadBytes;
  const std::uint64_t children = children_bytes(sizes, spec.actors);
  const std::uint64_t process = resident + kMemorySlack + threads + children;
  const std::uint64_t least = least_buffers(sizes);
  if (process + least > spec.memory_bytes) {
    return fail(Code::kOverloaded,
                "pipeline.memory = " + in_mib(spec.memory_bytes) +
                    " is too small: this job needs at least " +
                    in_mib(process + least + kStartsDiffer) + " (" + in_mib(process - children) +
                    " for the process, " +
                    (children > 0 ? in_mib(children) + " for those of functions in Python, " : "") +
                    in_mib(least_window(sizes)) + " for one split, " +
                    in_mib(sizes.cutting + 2 * sizes.batch) +
                    " for batches); raise it, or lower order.batch_size" +
                    (sizes.held > 0 ? " or order.shuffle_memory" : ""));
  }
  return MemoryPlan{.room = spec.memory_bytes - resident - kMemorySlack,
                    .prefetch = spec.prefetch_bytes > 0
                                    ? spec.prefetch_bytes
                                    : std::min(spec.memory_bytes / 8, kMostPrefetchByDefault)};
}

}  // namespace forebay
