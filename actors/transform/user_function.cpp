#include "actors/transform/user_function.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <system_error>

#include <elf.h>

#include "core/base/all_bytes.h"
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

std::string last_error() {
  const char* text = ::dlerror();
  return text == nullptr ? "unknown reason" : text;
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
                               return read_all_at(file.number(), to, offset) ==
                                      static_cast<ssize_t>(to.size());
                             });
}

/// An open library and its one function, which is listed as loaded.
class UserFunction::Library {
 public:
  Library(const std::string& op, const std::string& path)
      : unloading_(op + ": the destructors of " + path) {
    const UserCode loading(op + ": the constructors of " + path);
    const InUserCode here(loading);
    handle_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  ~Library() {
    if (handle_ == nullptr) return;
    const InUserCode here(unloading_);
    ::dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  explicit operator bool() const { return handle_ != nullptr; }
  void* find(const std::string& symbol) const { return ::dlsym(handle_, symbol.c_str()); }

  const UserCode& list(const std::string& name) { return loaded_.emplace(name).code(); }

 private:
  const UserCode unloading_;
  void* handle_ = nullptr;
  std::optional<UserCode::Loaded> loaded_;
};

Result<UserFunction> UserFunction::open(const std::string& op, const std::string& path,
                                        const std::string& function) {
  // The dynamic loader searches for a name without a slash.
  if (path.find('/') != std::string::npos) {
    if (auto whole = check_shared_object(path); !whole) {
      return fail(whole.error().code, "library: " + path + ": " + whole.error().message);
    }
  }
  const auto library = std::make_shared<Library>(op, path);
  if (!*library) return fail(Code::kInvalid, "library: " + last_error());
  void* const symbol = library->find(function);
  if (symbol == nullptr) {
    return fail(Code::kInvalid, "function: " + path + " has no function \"" + function + '"');
  }
  const void* const version = library->find(function + "_forebay_udf_version");
  if (version == nullptr) {
    return fail(Code::kInvalid, "function: \"" + function + "\" of " + path +
                                    " is not declared with FOREBAY_UDF of forebay/udf.h");
  }
  const auto built_for = *static_cast<const std::uint32_t*>(version);
  if (built_for != FOREBAY_UDF_VERSION) {
    return fail(Code::kInvalid, "library: " + path + " was built for version " +
                                    std::to_string(built_for) + " of forebay/udf.h, this is " +
                                    std::to_string(FOREBAY_UDF_VERSION) + "; build it again");
  }
  const UserCode& code = library->list(op + ": " + function + " of " + path);
  return UserFunction(library, reinterpret_cast<forebay_udf_function>(symbol), code);
}

bool UserFunction::operator()(forebay_udf_call& call) const {
  const InUserCode here(*code_);
  try {
    return function_(&call) == 0;
  } catch (const std::exception& thrown) {
    std::snprintf(call.error, call.error_size, "%s", thrown.what());
  } catch (...) {
    std::snprintf(call.error, call.error_size, "it threw something that is no std::exception");
  }
  return false;
}

}  // namespace forebay
