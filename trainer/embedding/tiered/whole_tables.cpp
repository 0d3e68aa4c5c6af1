#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/thread/start_thread.h"
#include "trainer/embedding/scored_rows.h"
#include "trainer/embedding/tiered/disk_rows.h"
#include "trainer/embedding/tiered/tiered_state.h"

namespace forebay {
namespace {

using Part = StateTensor::Part;

bool is_rows(const StateTensor& tensor) {
  return tensor.part != Part::kTables && tensor.name == kTierRows;
}

/// Returns an error for a tensor that cannot be part of the state of such tables.
Status check_rows(const TableLayout& layout, const StateTensor& tensor, std::size_t slots) {
  const std::size_t width = tensor.part == Part::kWeights ? layout.width : layout.state_width;
  const std::vector<std::int64_t> wanted = {static_cast<std::int64_t>(slots),
                                            static_cast<std::int64_t>(width)};
  if (tensor.type == ElementType::kF32 && tensor.shape == wanted) return {};
  return fail(Code::kInvalid, "the checkpoint's " + tensor.name + " are not rows of the model's " +
                                  "tables: other widths or another optimizer");
}

/// See whole_tables.
class WholeTables final : public StateSource {
 public:
  WholeTables(TableLayout layout, std::shared_ptr<StateSource> tiers, std::string folder)
      : layout_(std::move(layout)),
        tiers_(std::move(tiers)),
        folder_(std::move(folder)),
        disk_(layout_, folder_) {
    for (const StateTensor& tensor : tiers_->tensors()) {
      if (!is_rows(tensor)) {
        if (tensor.part == Part::kTables) continue;
        tensors_.push_back(tensor);
        locations_.emplace_back();
        continue;
      }
      for (std::size_t table = 0; table < layout_.rows.size(); ++table) {
        tensors_.push_back(layout_.tensor_of(table, tensor.part));
        locations_.push_back({.table = table, .kept = {}});
      }
    }
    start_taking_over();
  }

  ~WholeTables() override {
    given_up_ = true;
    thread_.reset();
    disk_.close();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  WholeTables(const WholeTables&) = delete;
  WholeTables& operator=(const WholeTables&) = delete;

  const std::vector<StateTensor>& tensors() const override { return tensors_; }

  Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) override {
    if (const Status& ready = taken_over_.get(); !ready) return ready;
    const Location& place = locations_[index];
    if (!place.table) {
      if (!to.empty()) std::memcpy(to.data(), place.kept.data() + offset, to.size());
      return {};
    }
    const StateTensor& tensor = tensors_[index];
    const auto width = static_cast<std::size_t>(tensor.shape[1]);
    const std::uint64_t row_bytes = width * sizeof(float);
    std::vector<float> rows;
    while (!to.empty()) {
      const std::uint64_t first = offset / row_bytes;
      const std::uint64_t skipped = offset - first * row_bytes;
      const std::uint64_t wanted = (skipped + to.size() + row_bytes - 1) / row_bytes;
      const std::uint64_t count = std::min<std::uint64_t>(wanted, kRowsAtOnce);
      rows.resize(count * width);
      if (auto done = read_rows(tensor, *place.table, first, rows); !done) return done;
      const std::size_t bytes = std::min<std::uint64_t>(to.size(), count * row_bytes - skipped);
      std::memcpy(to.data(), std::as_bytes(std::span(rows)).data() + skipped, bytes);
      to = to.subspan(bytes);
      offset += bytes;
    }
    return {};
  }

  void give_up() override { given_up_ = true; }

 private:
  /// Source of a tensor: rows of a table, or values kept in memory.
  struct Location {
    std::optional<std::size_t> table = {};
    std::vector<std::byte> kept;
  };

  /// Without a thread every read returns why there is none.
  void start_taking_over() {
    const auto task =
        std::make_shared<std::packaged_task<Status()>>([this] { return take_over(); });
    taken_over_ = task->get_future().share();
    try {
      thread_ =
          std::make_unique<Thread>(Thread::Options{.name = "whole tables"}, [task] { (*task)(); });
    } catch (const NoThread& none) {
      std::promise<Status> refused;
      refused.set_value(fail(Code::kUnavailable, none.what()));
      taken_over_ = refused.get_future().share();
    }
  }

  // Reads file by file, each from its begin to its end, as a checkpoint has to be read.
  Status take_over() {
    if (auto metadata = take_metadata(); !metadata) return metadata;
    if (auto weights = take_part(Part::kWeights); !weights) return weights;
    return take_part(Part::kOptimizer);
  }

  Status take_metadata() {
    auto keys = read_metadata_tensor<std::int64_t>(*tiers_, kTierKeys, -1);
    if (!keys) return pass(keys);
    keys_ = std::move(*keys);
    const auto extent = static_cast<std::int64_t>(disk_.written_bytes());
    auto written = read_metadata_tensor<std::uint8_t>(*tiers_, kTierWritten, extent);
    if (!written) return pass(written);
    disk_.written() = std::move(*written);
    const auto rows = static_cast<std::int64_t>(disk_.rows());
    if (std::ranges::any_of(keys_, [&](std::int64_t key) { return key >= rows; })) {
      return fail(Code::kCorrupt, "the checkpoint's tables name a row that they have not");
    }
    auto files = tiers_->files_folder();
    if (!files) return pass(files);
    return disk_.open(*files);
  }

  Status take_part(Part part) {
    std::size_t place = 0;
    const auto& tensors = tiers_->tensors();
    for (std::size_t index = 0; index < tensors.size(); ++index) {
      if (tensors[index].part == Part::kTables) continue;
      const std::size_t mine = place;
      place += is_rows(tensors[index]) ? layout_.rows.size() : 1;
      if (tensors[index].part != part) continue;
      if (is_rows(tensors[index])) {
        if (auto taken = take_rows(index, part); !taken) return taken;
        continue;
      }
      std::vector<std::byte>& kept = locations_[mine].kept;
      kept.resize(tensors[index].bytes());
      if (auto read = tiers_->read(index, 0, kept); !read) return read;
    }
    return {};
  }

  Status take_rows(std::size_t index, Part part) {
    const StateTensor& tensor = tiers_->tensors()[index];
    if (auto fits = check_rows(layout_, tensor, keys_.size()); !fits) return fits;
    const auto put = [&](std::size_t first, std::span<const float> values) -> Status {
      if (given_up_) return fail(Code::kTimeout, "the tables' rows were given up");
      return put_rows(first, values, part);
    };
    return forebay::read_rows(*tiers_, index, put);
  }

  /// Writes the weights of rows first, and later the state of the same rows.
  Status put_rows(std::size_t first_slot, std::span<const float> values, Part part) {
    const std::size_t own = part == Part::kWeights ? layout_.width : layout_.state_width;
    std::vector<std::pair<std::uint64_t, std::size_t>> rows;  // number, and index in `values`
    for (std::size_t i = 0; i * own < values.size(); ++i) {
      const std::int64_t key = keys_[first_slot + i];
      if (key >= 0) rows.emplace_back(static_cast<std::uint64_t>(key), i);
    }
    std::ranges::sort(rows);
    std::vector<std::uint64_t> numbers;
    std::vector<float> sorted;
    for (const auto& [number, i] : rows) {
      numbers.push_back(number);
      const auto row = values.subspan(i * own, own);
      sorted.insert(sorted.end(), row.begin(), row.end());
    }
    return disk_.write_part(numbers, sorted, part);
  }

  Status read_rows(const StateTensor& tensor, std::size_t table, std::uint64_t first,
                   std::span<float> to) {
    const auto width = static_cast<std::size_t>(tensor.shape[1]);
    const bool weights = tensor.part == Part::kWeights;
    const std::size_t at = weights ? 0 : layout_.width * sizeof(float);
    std::vector<std::uint64_t> numbers;
    std::vector<float*> places;
    for (std::size_t i = 0; i * width < to.size(); ++i) {
      const std::span<float> row = to.subspan(i * width, width);
      const std::uint64_t number = disk_.first_of(table) + first + i;
      if (disk_.was_written(number)) {
        numbers.push_back(number);
        places.push_back(row.data());
      } else if (weights) {
        disk_.fill_first(table, number, row);
      } else {
        std::ranges::fill(row, 0.0f);
      }
    }
    return disk_.log().read(numbers, [&](std::size_t place, std::span<const std::byte> row) {
      std::memcpy(places[place], row.data() + at, width * sizeof(float));
    });
  }

  const TableLayout layout_;
  const std::shared_ptr<StateSource> tiers_;
  const std::string folder_;
  DiskRows disk_;
  std::vector<StateTensor> tensors_;
  std::vector<Location> locations_;
  std::vector<std::int64_t> keys_;  // by slot
  std::atomic<bool> given_up_ = false;
  std::shared_future<Status> taken_over_;
  std::unique_ptr<Thread> thread_;  // null: none could be started
};

}  // namespace

std::unique_ptr<StateSource> whole_tables(TableLayout layout, std::shared_ptr<StateSource> tiers,
                                          const std::string& folder) {
  return std::make_unique<WholeTables>(std::move(layout), std::move(tiers), folder);
}

}  // namespace forebay
