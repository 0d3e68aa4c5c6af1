#include "engine/job/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace forebay {

Result<std::string> read_text_file(std::string_view kind, const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    return fail(errno == ENOENT ? Code::kNotFound : Code::kInvalid,
                std::string(kind) + " " + path + ": " + why);
  };
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return refuse(std::strerror(errno));
  if (S_ISDIR(info.st_mode)) return refuse("is a folder; name the file in it");
  if (!S_ISREG(info.st_mode)) return refuse("is not a regular file");
  if (info.st_size > static_cast<off_t>(kMostTextBytes)) {
    return refuse("is larger than 4 MiB; is it a data file?");
  }
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return refuse(std::strerror(errno));
  std::string text(kMostTextBytes, '\0');
  std::size_t size = 0;
  ssize_t got = 0;
  while (size < text.size() && (got = ::read(file, text.data() + size, text.size() - size)) > 0) {
    size += static_cast<std::size_t>(got);
  }
  const int error = errno;
  ::close(file);
  if (got < 0) return refuse(std::strerror(error));
  text.resize(size);
  return text;
}

bool names_a_file(const std::string& address) {
  return address.find("://") == std::string::npos && address.find('/') != std::string::npos;
}

}  // namespace forebay
