#pragma once

#include <atomic>
#include <cstdint>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/store/row_log.h"
#include "trainer/embedding/row_values.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/snapshot.h"

namespace forebay {

/// Whether the tables of a state lie in tiers: rows in slots, and files.
bool lies_in_tiers(const StateSource& state);

/// A state whose tables lie in tiers as one whose tables lie in memory, row after row: the same
/// whatever memory they had, so that it can be merged with the parts of other ranks, and whoever
/// goes on from it may keep its tables elsewhere.
///
/// Its rows are put into a folder of their own at once, by a thread of its own, so that whoever
/// trains on is not held up however late they are read; reading waits for that. What is beside the
/// tables is kept in memory. Any number of threads may read, each any bytes in any order.
class WholeTables final : public StateSource {
 public:
  /// `layout` is that of the tables in `tiers`; `folder` is emptied, and removed in the end.
  WholeTables(TableLayout layout, std::shared_ptr<StateSource> tiers, std::string folder);
  ~WholeTables() override;
  WholeTables(const WholeTables&) = delete;
  WholeTables& operator=(const WholeTables&) = delete;

  const std::vector<StateTensor>& tensors() const override { return tensors_; }
  Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) override;
  void give_up() override { given_up_ = true; }

 private:
  /// Of a tensor: rows of a table, or values that are kept.
  struct Location {
    bool is_table = false;
    std::size_t table = 0;
    std::vector<std::byte> kept;
  };

  Status take_over();
  Status take_metadata();
  Status take_part(StateTensor::Part part);
  Status take_rows(std::size_t index, StateTensor::Part part);
  Status put_rows(std::size_t first_slot, std::span<const std::byte> values,
                  StateTensor::Part part);
  Status read_rows(const StateTensor& tensor, std::size_t table, std::uint64_t first,
                   std::span<float> to);
  bool was_written(std::uint64_t number) const {
    return (written_[number / 8] >> (number % 8) & 1) != 0;
  }

  const TableLayout layout_;
  const std::shared_ptr<StateSource> tiers_;
  const std::string folder_;
  std::vector<std::uint64_t> first_number_;  // by table, and the end
  std::vector<RowValues> values_;            // by table
  std::vector<StateTensor> tensors_;
  std::vector<Location> locations_;
  std::vector<std::int64_t> keys_;     // by slot
  std::vector<std::uint8_t> written_;  // a bit a row
  std::unique_ptr<RowLog> disk_;
  std::atomic<bool> given_up_ = false;
  std::shared_future<Status> taken_over_;  // waits for the thread as it goes
};

}  // namespace forebay
