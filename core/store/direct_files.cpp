#include "core/store/direct_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "core/store/read_queue.h"

namespace forebay {
namespace {

using rocksdb::IOStatus;

IOStatus refusal(const std::string& path, int error) {
  return error == ENOENT ? IOStatus::PathNotFound(path, std::strerror(error))
                         : IOStatus::IOError(path, std::strerror(error));
}

class DirectFile final : public rocksdb::FSRandomAccessFile {
 public:
  DirectFile(std::string path, int file, std::shared_ptr<ReadQueues> queues)
      : path_(std::move(path)), file_(file), queues_(std::move(queues)) {}
  ~DirectFile() override { close(file_); }
  DirectFile(const DirectFile&) = delete;
  DirectFile& operator=(const DirectFile&) = delete;

  bool use_direct_io() const override { return true; }

  // NOLINTNEXTLINE(readability-function-size): RocksDB's interface.
  IOStatus Read(std::uint64_t offset, std::size_t size, const rocksdb::IOOptions&,
                rocksdb::Slice* result, char* to, rocksdb::IODebugContext*) const override {
    const std::int64_t read = read_piece(file_, {offset, size, to});
    if (read < 0) return refusal(path_, static_cast<int>(-read));
    *result = rocksdb::Slice(to, static_cast<std::size_t>(read));
    return IOStatus::OK();
  }

  IOStatus MultiRead(rocksdb::FSReadRequest* requests, std::size_t count, const rocksdb::IOOptions&,
                     rocksdb::IODebugContext*) override {
    std::vector<FilePiece> pieces(count);
    for (std::size_t i = 0; i < count; ++i) {
      pieces[i] = {requests[i].offset, requests[i].len, requests[i].scratch};
    }
    if (count == 1) {
      pieces[0].read = read_piece(file_, pieces[0]);
    } else {
      queues_->read(file_, pieces);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t read = pieces[i].read;
      requests[i].status = read < 0 ? refusal(path_, static_cast<int>(-read)) : IOStatus::OK();
      requests[i].result =
          rocksdb::Slice(pieces[i].to, read < 0 ? 0 : static_cast<std::size_t>(read));
    }
    return IOStatus::OK();
  }

 private:
  const std::string path_;
  const int file_;
  const std::shared_ptr<ReadQueues> queues_;
};

}  // namespace

DirectFiles::DirectFiles()
    : FileSystemWrapper(rocksdb::FileSystem::Default()), queues_(std::make_shared<ReadQueues>()) {}

DirectFiles::~DirectFiles() = default;

bool DirectFiles::reads_together() const { return ReadQueue::make() != nullptr; }

IOStatus DirectFiles::NewRandomAccessFile(const std::string& path,
                                          const rocksdb::FileOptions& options,
                                          std::unique_ptr<rocksdb::FSRandomAccessFile>* made,
                                          rocksdb::IODebugContext* debug) {
  if (!options.use_direct_reads) return target()->NewRandomAccessFile(path, options, made, debug);
  const int file = open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
  if (file < 0) return refusal(path, errno);
  *made = std::make_unique<DirectFile>(path, file, queues_);
  return IOStatus::OK();
}

}  // namespace forebay
