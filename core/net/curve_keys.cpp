#include "core/net/curve_keys.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <zmq.h>

#include "core/base/all_bytes.h"
#include "core/base/descriptor.h"
#include "core/base/open_files.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKeyLetters = 40;

Error trouble(const std::string& path, const std::string& what) {
  return {Code::kInvalid, "key file " + path + ": " + what};
}

std::string system_says() { return system_words(errno); }

tl::unexpected<Error> refused_by_system(const std::string& path) {
  const bool passing = is_out_of_descriptors(errno) || errno == ENOMEM || errno == EINTR;
  const Code code = errno == ENOENT ? Code::kNotFound : Code::kInvalid;
  return fail(passing ? Code::kUnavailable : code, "key file " + path + ": " + system_says());
}

/// Writes a new file that only its owner can read; leaves none that is not whole.
Status write_key(const std::string& path, const std::string& key) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return tl::unexpected<Error>(trouble(path, system_says()));
  const bool written = write_all(file.number(), key + '\n');
  if (::close(file.release()) == 0 && written) return {};
  const Error error = trouble(path, "cannot be written: " + system_says());
  ::unlink(path.c_str());
  return tl::unexpected<Error>(error);
}

Result<std::string> read_secret(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && (status.st_mode & 077) != 0) {
    return tl::unexpected<Error>(trouble(path, "others can read this secret; chmod 600 it"));
  }
  return read_key(path);
}

Result<KeyPair> write_new_pair(const std::string& stem) {
  Result<KeyPair> pair = KeyPair::generate();
  if (!pair) return pair;
  if (auto open = write_key(stem + ".key", pair->public_key); !open) return pass(open);
  if (auto secret = write_key(stem + ".key_secret", pair->secret_key); !secret) {
    ::unlink((stem + ".key").c_str());
    return pass(secret);
  }
  return pair;
}

/// Makes a folder that only its owner can enter.
Status make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directory(folder, error);
  if (!error) fs::permissions(folder, fs::perms::owner_all, error);
  if (error) return fail(Code::kInvalid, "folder " + folder.string() + ": " + error.message());
  return {};
}

Status fill_new(const fs::path& folder) {
  if (auto made = make_folder(folder / "clients"); !made) return made;
  if (auto server = write_new_pair(folder / "server"); !server) return pass(server);
  return CurveKeys::add_client(folder, "client");
}

}  // namespace

Result<KeyPair> KeyPair::generate() {
  std::array<char, kKeyLetters + 1> open{};
  std::array<char, kKeyLetters + 1> secret{};
  if (zmq_curve_keypair(open.data(), secret.data()) != 0) {
    return fail(Code::kUnavailable, "this libzmq was built without CURVE");
  }
  return KeyPair{open.data(), secret.data()};
}

Status CurveKeys::create(const std::string& folder) {
  std::error_code error;
  if (fs::exists(folder, error)) {
    return fail(Code::kInvalid, "folder " + folder + " is there already; name a new one for keys");
  }
  const fs::path place = fs::absolute(folder, error).lexically_normal();
  fs::create_directories(place.parent_path(), error);
  if (auto made = make_folder(place); !made) return made;
  Status filled = fill_new(place);
  if (!filled) fs::remove_all(place, error);
  return filled;
}

Status CurveKeys::add_client(const std::string& folder, const std::string& name) {
  if (name.empty() || name.find('/') != std::string::npos || name == "server") {
    return fail(Code::kInvalid, "client name " + name + ": wants a name for a file, not `server`");
  }
  const std::string stem = folder + "/" + name;
  auto pair = write_new_pair(stem);
  if (!pair) return pass(pair);
  Status accepted = write_key(folder + "/clients/" + name + ".key", pair->public_key);
  if (accepted) return accepted;
  for (const char* suffix : {".key", ".key_secret"}) ::unlink((stem + suffix).c_str());
  return accepted;
}

Result<CurveKeys> CurveKeys::read(const std::string& folder) {
  std::error_code error;
  if (!fs::exists(folder, error) && !error) {
    return fail(Code::kNotFound, "key folder " + folder + ": No such file or directory; `forebay " +
                                     "keys new " + folder +
                                     "` makes it, or copy it from the trainer");
  }
  CurveKeys keys{.folder = folder, .server_public = {}, .server_secret = {}, .client = {}};
  auto server = read_key(folder + "/server.key");
  if (!server) return pass(server);
  keys.server_public = *server;
  auto secret = read_secret(folder + "/server.key_secret");
  if (secret) keys.server_secret = *secret;
  if (!secret && secret.error().code != Code::kNotFound) return pass(secret);
  auto client_public = read_key(folder + "/client.key");
  auto client_secret = read_secret(folder + "/client.key_secret");
  if (client_public && client_secret) keys.client = KeyPair{*client_public, *client_secret};
  if (!client_secret && client_secret.error().code != Code::kNotFound) return pass(client_secret);
  if (!client_public && client_public.error().code != Code::kNotFound) return pass(client_public);
  return keys;
}

std::optional<std::string> key_in(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  std::array<std::uint8_t, 32> bytes{};
  const std::string key(text);  // The decoder takes a C string.
  if (key.size() != kKeyLetters || key.find('\0') != std::string::npos) return std::nullopt;
  return zmq_z85_decode(bytes.data(), key.c_str()) != nullptr ? std::optional(key) : std::nullopt;
}

Result<std::string> read_key(const std::string& path) {
  struct stat info {};
  // Checked before open() too, because opening a device may have side effects.
  if (::stat(path.c_str(), &info) != 0) return refused_by_system(path);
  if (!S_ISREG(info.st_mode)) return tl::unexpected<Error>(trouble(path, "is no regular file"));
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file || ::fstat(file.number(), &info) != 0) return refused_by_system(path);
  if (!S_ISREG(info.st_mode)) return tl::unexpected<Error>(trouble(path, "is no regular file"));
  std::array<char, kKeyLetters + 2> letters{};
  const ssize_t size = ::read(file.number(), letters.data(), letters.size());
  if (size < 0) return refused_by_system(path);
  if (auto key = key_in({letters.data(), static_cast<std::size_t>(size)})) return *key;
  return tl::unexpected<Error>(trouble(path, "is no key: wants 40 letters of Z85"));
}

}  // namespace forebay
