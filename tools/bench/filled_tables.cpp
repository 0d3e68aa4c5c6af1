#include "tools/bench/filled_tables.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/store/rows/row_log.h"
#include "trainer/embedding/make_tables.h"
#include "trainer/embedding/row_values.h"
#include "trainer/embedding/tiered/tiered_tables.h"

namespace forebay {
namespace {

/// A snapshot with the model's network, and with tables that have no row in memory and all rows on
/// the disk.
class FilledSource final : public StateSource {
 public:
  FilledSource(StateSource& network, RowLog& rows) : network_(network), rows_(rows) {
    for (std::size_t i = 0; i < network.tensors().size(); ++i) {
      StateTensor tensor = network.tensors()[i];
      if (tensor.name == "tables.rows" || tensor.name == "tables.keys") tensor.shape[0] = 0;
      tensors_.push_back(std::move(tensor));
    }
  }

  const std::vector<StateTensor>& tensors() const override { return tensors_; }

  Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) override {
    if (tensors_[index].name == "tables.written") {
      std::memset(to.data(), 0xff, to.size());
      return {};
    }
    return to.empty() ? Status() : network_.read(index, offset, to);
  }

  Status link_files(const std::string& folder) override { return rows_.link(folder); }

 private:
  StateSource& network_;
  RowLog& rows_;
  std::vector<StateTensor> tensors_;
};

Status write_table(RowLog& disk, const TableLayout& layout, std::size_t table,
                   std::uint64_t first) {
  constexpr std::int64_t kAtOnce = 65536;
  const RowValues values(layout.seed, layout.feature_of(table), layout.rows[table], layout.dim);
  const std::size_t floats = layout.width + layout.state_width;
  std::vector<std::uint64_t> numbers;
  std::vector<float> rows;
  for (std::int64_t begin = 0; begin < layout.rows[table]; begin += kAtOnce) {
    const std::int64_t count = std::min(kAtOnce, layout.rows[table] - begin);
    numbers.clear();
    rows.assign(static_cast<std::size_t>(count) * floats, 0);
    for (std::int64_t i = 0; i < count; ++i) {
      numbers.push_back(first + static_cast<std::uint64_t>(begin + i));
      values.fill(begin + i, {rows.data() + static_cast<std::size_t>(i) * floats, layout.width});
    }
    const auto fill = [&](std::size_t place, std::span<std::byte> row) {
      std::memcpy(row.data(), rows.data() + place * floats, row.size());
    };
    if (auto status = disk.write(numbers, fill); !status) return status;
  }
  return {};
}

}  // namespace

Status fill_tiered_tables(Model& model, const TrainerSpec& spec, const ModelShape& shape,
                          const std::string& folder) {
  const TableLayout layout = layout_of(spec, shape);
  auto disk = RowLog::create(folder, DiskRows::options(layout));
  if (!disk) return pass(disk);
  std::uint64_t first = 0;
  for (std::size_t table = 0; table < layout.rows.size(); ++table) {
    if (auto status = write_table(**disk, layout, table, first); !status) return status;
    first += static_cast<std::uint64_t>(layout.rows[table]);
  }
  auto network = model.snapshot();
  if (!network) return pass(network);
  FilledSource filled(**network, **disk);
  return model.restore(filled);
}

}  // namespace forebay
