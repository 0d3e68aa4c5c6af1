#include "actors/python/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace forebay {
namespace {

tl::unexpected<Error> no_memory() {
  return fail(Code::kUnavailable,
              std::string("no memory can be shared with a child process: ") + std::strerror(errno));
}

}  // namespace

Result<SharedMemory> SharedMemory::create() {
  Descriptor file(::memfd_create("forebay", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) return no_memory();
  if (::fcntl(file.number(), F_ADD_SEALS, F_SEAL_SHRINK) != 0) return no_memory();
  return SharedMemory(std::move(file));
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : file_(std::move(other.file_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

Status SharedMemory::reserve(std::size_t bytes) {
  if (bytes <= size_) return {};
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t size = (bytes + bytes / 8 + page - 1) / page * page;
  if (::ftruncate(file_.number(), static_cast<off_t>(size)) != 0) return no_memory();
  void* const data = data_ == nullptr ? ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED,
                                               file_.number(), 0)
                                      : ::mremap(data_, size_, size, MREMAP_MAYMOVE);
  if (data == MAP_FAILED) return no_memory();
  data_ = static_cast<std::byte*>(data);
  size_ = size;
  return {};
}

}  // namespace forebay
