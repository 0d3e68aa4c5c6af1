#pragma once

#include <memory>

#include <rocksdb/file_system.h>

namespace forebay {

/// The system's files for RocksDB, but that files opened for direct reads read many pieces at once:
/// one call of the kernel's asynchronous interface (io_submit) asks for all of them, where RocksDB
/// would ask for one after the other. That costs a third of the processor time a piece, and keeps
/// as many under way with two threads as two dozen do otherwise.
///
/// Where the kernel refuses that interface pieces are read one after the other. Its files may be
/// read by any number of threads; it outlives them.
class DirectFiles final : public rocksdb::FileSystemWrapper {
 public:
  DirectFiles();
  ~DirectFiles() override;

  const char* Name() const override { return "ForebayDirectFiles"; }

  /// Whether the kernel takes many reads at once.
  bool reads_together() const;

  rocksdb::IOStatus NewRandomAccessFile(const std::string& path,
                                        const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* made,
                                        rocksdb::IODebugContext* debug) override;

 private:
  const std::shared_ptr<class ReadQueues> queues_;
};

}  // namespace forebay
