#include "actors/format/parquet/parquet_format.h"

#include <string>
#include <utility>

#include "actors/format/column_fill.h"
#include "actors/format/parquet/footer.h"
#include "actors/format/parquet/grain_decoder.h"
#include "actors/format/parquet/parquet_file.h"
#include "actors/format/parquet/wanted_columns.h"
#include "core/base/cpu_level.h"

namespace forebay {
namespace {

class ParquetFormat final : public UnitFormat {
 public:
  ParquetFormat(parquet::WantedColumns wanted, CpuLevel level)
      : wanted_(std::move(wanted)), level_(level) {}

  const Schema& schema() const override { return wanted_.schema; }

  bool may_have_lists(std::size_t sparse) const override {
    return wanted_.leaves[wanted_.sparse[sparse]].kind.starts_with("list");
  }

  // What decoded blocks take beside flat columns and the lists' offsets.
  std::uint64_t list_ids(const Extent& extent) const override {
    std::uint64_t lists = 0;
    for (std::size_t i = 0; i < wanted_.sparse.size(); ++i) lists += may_have_lists(i) ? 1 : 0;
    if (lists == 0) return 0;
    const ColumnFill::Shape flat{.rows = extent.rows,
                                 .dense = wanted_.dense.size(),
                                 .sparse = wanted_.sparse.size(),
                                 .origins = true,
                                 .weights = wanted_.weight.has_value(),
                                 .extras = wanted_.extra.size()};
    const std::uint64_t others =
        flat.dense_bytes() + flat.sparse_bytes() + lists * extent.rows * sizeof(std::int32_t);
    return extent.decoded > others ? (extent.decoded - others) / sizeof(std::int64_t) : lists;
  }

  std::string index_settings() const override {
    // Changes when cut_group() or the rule of Unit::decoded does.
    std::string text = "grains of 1 MiB, lists by pages\n";
    for (const parquet::WantedLeaf& leaf : wanted_.leaves)
      text += leaf.name + '\t' + leaf.kind + '\n';
    // How many columns there are of each role decides Unit::decoded, and so the cuts.
    for (const std::size_t columns : {wanted_.dense.size(), wanted_.sparse.size(),
                                      wanted_.extra.size(), std::size_t{wanted_.weight ? 1U : 0U}})
      text += std::to_string(columns) + '\n';
    return text;
  }

  Result<std::unique_ptr<UnitFile>> open(const InputFile& file) const override {
    auto footer = parquet::read_footer(file);
    if (!footer) return pass(footer);
    return parquet::open_parquet_file(file, std::move(*footer), wanted_);
  }

  Decoded decode(const RawSplit& raw, const DecodeOptions& options,
                 BufferPool& pool) const override {
    return parquet::decode_grains(wanted_, level_, raw, options, pool);
  }

 private:
  const parquet::WantedColumns wanted_;
  const CpuLevel level_;
};

/// So many files are looked at for the kind of a column that is of type null before.
constexpr int kMostLooked = 256;

/// Returns the columns by the leaves of the first file, in `path`, and the kinds that it does not
/// know by those of later files.
Result<parquet::WantedColumns> agree(const ColumnSpec& columns, std::vector<parquet::Leaf> leaves,
                                     std::string path, const NextFile& next) {
  auto wanted = parquet::want_columns(columns, leaves);
  for (int looked = 0; looked < kMostLooked && wanted && lacks_kinds(*wanted); ++looked) {
    auto file = next();
    if (!file) return pass(file);
    if (*file == nullptr) break;
    auto footer = parquet::read_footer(**file);
    if (!footer) return pass(footer);
    if (!parquet::take_kinds(leaves, footer->leaves)) continue;
    path = (*file)->path();
    wanted = parquet::want_columns(columns, leaves);
  }
  if (!wanted) return fail(wanted.error().code, path + ": " + wanted.error().message);
  return wanted;
}

}  // namespace

Result<std::unique_ptr<UnitFormat>> open_parquet(const DatasetSpec&, const ColumnSpec& columns,
                                                 const InputFile& first, const NextFile& next) {
  auto level = chosen_cpu_level();
  if (!level) return pass(level);
  auto footer = parquet::read_footer(first);
  if (!footer) return pass(footer);
  auto wanted = agree(columns, std::move(footer->leaves), first.path(), next);
  if (!wanted) return pass(wanted);
  return std::unique_ptr<UnitFormat>(std::make_unique<ParquetFormat>(std::move(*wanted), *level));
}

}  // namespace forebay
