#include "actors/transform/shared_object.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <elf.h>

#include "core/base/descriptor.h"

namespace forebay {
namespace {

/// Real libraries have about a dozen segments; the loader's own bound is of this order.
constexpr std::size_t kMostSegments = 4096;

template <class Record>
bool read_record(const ReadAt& read, std::uint64_t offset, Record& record) {
  return read(offset, std::as_writable_bytes(std::span(&record, 1)));
}

/// Whether `bytes` bytes at `offset` lie within a file of `size`; no sum overflows.
bool within(std::uint64_t size, std::uint64_t offset, std::uint64_t bytes) {
  return offset <= size && bytes <= size - offset;
}

tl::unexpected<Error> cut_short(std::uint64_t size, const std::string& part) {
  return fail(Code::kInvalid, "the file ends after " + std::to_string(size) +
                                  " bytes, within its " + part +
                                  ": it was cut short; copy or build it again");
}

/// Sections are not loaded, but linkers put the section table last, so a truncated file lacks it.
Status check_sections(std::uint64_t size, const Elf64_Ehdr& header) {
  if (header.e_shoff == 0) return {};
  const std::uint64_t entries = header.e_shnum == 0 ? 1 : header.e_shnum;
  if (within(size, header.e_shoff, entries * header.e_shentsize)) return {};
  return cut_short(size, "section headers");
}

Status check_segments(std::uint64_t size, const Elf64_Ehdr& header, const ReadAt& read) {
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return {};  // The loader reports it with a message.
  if (header.e_phnum > kMostSegments) {
    return fail(Code::kInvalid, "its headers name " + std::to_string(header.e_phnum) +
                                    " segments: no library has so many; build it again");
  }
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    const std::uint64_t entry = i * sizeof segment;
    if (!within(size, header.e_phoff, entry + sizeof segment) ||
        !read_record(read, header.e_phoff + entry, segment)) {
      return cut_short(size, "program headers");
    }
    if (segment.p_type == PT_LOAD && !within(size, segment.p_offset, segment.p_filesz)) {
      return cut_short(size, "segments");
    }
  }
  return {};
}

}  // namespace

Status check_shared_object(std::uint64_t size, const ReadAt& read) {
  Elf64_Ehdr header;
  std::array<unsigned char, EI_NIDENT> identity{};
  if (!within(size, 0, sizeof identity) || !read_record(read, 0, identity)) {
    return cut_short(size, "ELF header");
  }
  constexpr std::array<unsigned char, 6> kOurs{ELFMAG0, ELFMAG1,    ELFMAG2,
                                               ELFMAG3, ELFCLASS64, ELFDATA2LSB};
  if (std::memcmp(identity.data(), kOurs.data(), kOurs.size()) != 0) {
    return fail(Code::kInvalid, "it is no shared library of 64 bits for this machine");
  }
  if (!within(size, 0, sizeof header) || !read_record(read, 0, header)) {
    return cut_short(size, "ELF header");
  }
  if (auto status = check_sections(size, header); !status) return status;
  return check_segments(size, header, read);
}

Status check_shared_object(const std::string& path) {
  const auto refuse = [](int error) {
    return fail(Code::kInvalid, std::generic_category().message(error));
  };
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return refuse(errno);
  struct stat there {};
  if (::fstat(file.number(), &there) != 0) return refuse(errno);
  if (!S_ISREG(there.st_mode)) return fail(Code::kInvalid, "it is no regular file");
  return check_shared_object(static_cast<std::uint64_t>(there.st_size),
                             [&file](std::uint64_t offset, std::span<std::byte> to) {
                               return ::pread(file.number(), to.data(), to.size(),
                                              static_cast<off_t>(offset)) ==
                                      static_cast<ssize_t>(to.size());
                             });
}

}  // namespace forebay
