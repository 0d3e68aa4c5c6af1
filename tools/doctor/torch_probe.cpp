#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "core/base/text/text.h"
#include "engine/process/machine.h"
#include "engine/process/memory_use.h"
#include "tools/doctor/checks.h"
#include "tools/process/process_end.h"
#include "trainer/module.h"

namespace forebay {
namespace {

Blas::Kind kind_of(std::string_view path) {
  for (const std::string_view fast : {"openblas", "libmkl", "blis", "atlas"}) {
    if (path.find(fast) != std::string_view::npos) return Blas::Kind::kFast;
  }
  const std::size_t name = path.rfind('/') + 1;
  if (!path.substr(name).starts_with("libblas.so")) return Blas::Kind::kNone;
  // Debian installs the reference implementation in a separate folder.
  return path.find("/blas/libblas.so") != std::string_view::npos ? Blas::Kind::kReference
                                                                 : Blas::Kind::kUnknown;
}

constexpr int kSlice = 200;       // milliseconds between polls of the stop flag
constexpr int kMostSlices = 300;  // a minute

/// Runs in the child: returns a line with the verdict, then the findings or the error, one a line.
std::string findings() {
  const std::uint64_t before = resident_bytes();
  auto trainer = open_trainer();
  if (!trainer) return "no\n" + trainer.error().message + "\n";
  const std::uint64_t after = resident_bytes();
  const Blas blas = find_blas(proc_text("/proc/self/maps"));
  return std::string("yes\n") + (*trainer)->torch_version + "\n" +
         std::to_string(after > before ? after - before : 0) + "\n" +
         std::to_string(static_cast<int>(blas.kind)) + "\n" + blas.path + "\n";
}

[[noreturn]] void be_child(int out, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  const std::string text = findings();
  const bool written = ::write(out, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::_exit(written ? 0 : 1);
}

/// Returns the child's output up to its end.
Result<std::string> read_all(int from) {
  std::string text;
  for (int slice = 0; slice < kMostSlices; ++slice) {
    if (StopRequest::requested()) return fail(Code::kUnavailable, "stopped");
    pollfd ready{.fd = from, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, kSlice) <= 0) continue;
    std::array<char, 4096> piece{};
    const ssize_t got = ::read(from, piece.data(), piece.size());
    if (got <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return fail(Code::kTimeout, "libtorch was not loaded within a minute; is its disk slow?");
}

Result<TorchProbe> parse(const std::string& text) {
  std::istringstream lines(text);
  std::string verdict;
  std::string first;
  std::getline(lines, verdict);
  std::getline(lines, first);
  if (verdict == "no") return fail(Code::kNotFound, first);
  TorchProbe probe{.version = first, .bytes = 0, .blas = {}};
  int kind = 0;
  lines >> probe.bytes >> kind;
  if (verdict != "yes" || !lines) {
    return fail(Code::kUnavailable,
                "loading libtorch ended the process that tried; install it anew: apt-get install "
                "--reinstall libtorch1.13");
  }
  probe.blas.kind = static_cast<Blas::Kind>(kind);
  lines.ignore();
  std::getline(lines, probe.blas.path);
  return probe;
}

}  // namespace

Blas find_blas(std::string_view maps) {
  Blas found;
  while (!maps.empty()) {
    const std::string_view line = take_until(maps, '\n');
    const std::size_t slash = line.find('/');
    if (slash == std::string_view::npos) continue;
    const std::string_view path = line.substr(slash);
    // The better kind wins: OpenBLAS is loaded through its own libblas.so.
    if (const Blas::Kind kind = kind_of(path); kind < found.kind) found = {kind, std::string(path)};
  }
  return found;
}

Result<TorchProbe> probe_torch() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) {
    return fail(Code::kUnavailable,
                std::string("a pipe to try libtorch through: ") + std::strerror(errno));
  }
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) be_child(ends[1], parent);
  const int why = errno;
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return fail(Code::kUnavailable,
                std::string("a process to try libtorch in: ") + std::strerror(why));
  }
  auto text = read_all(ends[0]);
  ::close(ends[0]);
  if (!text) ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  if (!text) return pass(text);
  return parse(*text);
}

}  // namespace forebay
