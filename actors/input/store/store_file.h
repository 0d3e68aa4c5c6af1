#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "actors/input/file_system.h"
#include "actors/input/store/transfer/store_client.h"
#include "actors/input/store/transfer/target.h"
#include "core/base/result.h"

namespace forebay {

/// Bytes of a file that is read from start to end, asked for before they are wanted: up to four
/// parts, whose number and size (up to 8 MiB) grow as they are used, as far as the client's limit
/// for all files allows. Belongs to one thread at a time.
class ReadAhead {
 public:
  ReadAhead(std::shared_ptr<StoreClient> client, std::shared_ptr<const Target> target,
            StoredVersion version);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// The file will be read through, so parts need not grow first.
  void expect_all() { through_ = true; }
  /// Copies bytes from `offset` and returns their number; 0 when they were not asked for ahead.
  /// Reads that go on where the last one ended begin to ask.
  Result<std::size_t> read(std::uint64_t offset, std::span<char> out);

 private:
  struct Part {
    std::uint64_t offset = 0;
    std::vector<char> bytes;
    std::unique_ptr<PendingRead> pending;

    std::uint64_t end() const { return offset + bytes.size(); }
  };

  void ask();
  void drop_front();

  const std::shared_ptr<StoreClient> client_;
  const std::shared_ptr<const Target> target_;
  const StoredVersion version_;
  std::deque<Part> parts_;      // neighbours in the file
  std::uint64_t next_ = 0;      // where the last read ended
  std::uint64_t asked_ = 0;     // the end of the last part
  std::uint64_t grown_;         // the size of the next part
  std::size_t parts_used_ = 0;  // since reads began to go on
  bool through_ = false;
  bool begun_ = false;
};

/// A file in a store.
class StoreFile final : public InputFile {
 public:
  StoreFile(FileInfo info, std::shared_ptr<StoreClient> client,
            std::shared_ptr<const Target> target, StoredVersion version);

  Status check(const FileStamp& indexed) const override;
  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) const override;
  bool is_remote() const override { return true; }
  std::unique_ptr<PendingRead> begin_read(std::vector<ReadRange> ranges) const override;
  void will_read_through() const override;

 private:
  Status fetch(std::uint64_t offset, std::span<char> out) const;
  Result<std::size_t> read_tail(std::uint64_t offset, std::span<char> out) const;

  const std::shared_ptr<StoreClient> client_;
  const std::shared_ptr<const Target> target_;
  const StoredVersion version_;
  mutable std::mutex mutex_;
  mutable ReadAhead ahead_;         // under mutex_, as below
  mutable std::vector<char> tail_;  // the file's last bytes, once they were asked for
};

}  // namespace forebay
