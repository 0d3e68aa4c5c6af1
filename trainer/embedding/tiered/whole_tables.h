#pragma once

#include <atomic>
#include <cstdint>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/embedding/tiered/disk_rows.h"
#include "trainer/state/snapshot.h"

namespace forebay {

/// Presents a state with tiered tables as one with tables in memory, row after row. The result does
/// not depend on the memory size, so it can be merged with the parts of other ranks, and a run that
/// resumes from it may use another storage.
///
/// Its own thread moves the rows into a separate folder at once, so that training is not blocked
/// however late they are read; a read waits for that. State beside the tables is kept in memory.
/// Any number of threads may read, each any bytes in any order.
class WholeTables final : public StateSource {
 public:
  /// `layout` is that of the tables in `tiers`; `folder` is emptied now, and removed by the
  /// destructor.
  WholeTables(TableLayout layout, std::shared_ptr<StateSource> tiers, std::string folder);
  ~WholeTables() override;
  WholeTables(const WholeTables&) = delete;
  WholeTables& operator=(const WholeTables&) = delete;

  const std::vector<StateTensor>& tensors() const override { return tensors_; }
  Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) override;
  void give_up() override { given_up_ = true; }

 private:
  /// Source of a tensor: rows of a table, or values kept in memory.
  struct Location {
    bool is_table = false;
    std::size_t table = 0;
    std::vector<std::byte> kept;
  };

  Status take_over();
  Status take_metadata();
  Status take_part(StateTensor::Part part);
  Status take_rows(std::size_t index, StateTensor::Part part);
  Status put_rows(std::size_t first_slot, std::span<const float> values, StateTensor::Part part);
  Status read_rows(const StateTensor& tensor, std::size_t table, std::uint64_t first,
                   std::span<float> to);
  const TableLayout layout_;
  const std::shared_ptr<StateSource> tiers_;
  const std::string folder_;
  DiskRows disk_;
  std::vector<StateTensor> tensors_;
  std::vector<Location> locations_;
  std::vector<std::int64_t> keys_;  // by slot
  std::atomic<bool> given_up_ = false;
  std::shared_future<Status> taken_over_;  // its destructor waits for the thread
};

}  // namespace forebay
