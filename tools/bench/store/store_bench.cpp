#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "actors/input/file_system.h"
#include "actors/input/store/stores.h"
#include "core/base/descriptor.h"
#include "core/base/random.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_process.h"
#include "tools/bench/bench_setup.h"
#include "tools/bench/store/store_jobs.h"
#include "tools/bench/store/stub_server.h"

namespace forebay {
namespace {

constexpr std::uint64_t kPart = std::uint64_t{8} << 20;
constexpr std::size_t kInFlight = 64;
constexpr double kMega = 1e6;
constexpr double kGiB = 0x1p30;

/// A stub server in a process of its own, so that its CPU time is not ours. Killed with this
/// object.
class ServerProcess {
 public:
  ServerProcess(BenchProcess process, int port)
      : process_(std::make_unique<BenchProcess>(std::move(process))), port_(port) {}
  ServerProcess(ServerProcess&&) = default;
  ServerProcess& operator=(ServerProcess&&) = delete;
  ~ServerProcess() {
    if (process_) process_->kill();
  }

  int port() const { return port_; }
  std::string path() const { return "http://127.0.0.1:" + std::to_string(port_) + "/bucket/data"; }

 private:
  std::unique_ptr<BenchProcess> process_;
  int port_;
};

Result<ServerProcess> start_server(const StubOptions& options) {
  auto process = BenchProcess::start([&options](const BenchProcess::Lines& lines) {
    auto server = StubServer::open(options);
    lines.write(std::to_string(server ? (*server)->port() : 0));
    if (server) (*server)->run();
  });
  if (!process) return pass(process);
  auto port = process->lines().read_number();
  ServerProcess server(std::move(*process), port ? static_cast<int>(*port) : 0);
  if (!port) return pass(port);
  if (*port < 1) return fail(Code::kUnavailable, "bench store: no server can listen on 127.0.0.1");
  return server;
}

struct Fetched {
  double seconds = 0;
  double cpu_seconds = 0;
  double requests = 0;
};

using Buffers = std::vector<std::vector<char>>;

/// Asks for every part of a file through raw sockets, one request on each, and receives into
/// buffers: the least that a client can do.
class PlainLoop {
 public:
  PlainLoop(int port, std::uint64_t bytes, Buffers& buffers)
      : port_(port), bytes_(bytes), buffers_(buffers), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

  Status run() {
    for (std::size_t i = 0; i < kInFlight && asked_ < bytes_; ++i) {
      Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(static_cast<std::uint16_t>(port_));
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      if (::connect(socket.number(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
        return fail(Code::kUnavailable, "bench store: the server cannot be connected to");
      }
      epoll_event event{.events = EPOLLIN, .data = {.u64 = i}};
      ::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, socket.number(), &event);
      sockets_.push_back({.socket = std::move(socket)});
      ask(sockets_.back());
    }
    std::array<epoll_event, kInFlight> events{};
    while (received_ < bytes_) {
      const int count = ::epoll_wait(epoll_.number(), events.data(), events.size(), -1);
      for (int i = 0; i < count; ++i) {
        if (!receive(events[static_cast<std::size_t>(i)].data.u64)) {
          return fail(Code::kUnavailable, "bench store: the server ended a connection");
        }
      }
    }
    return {};
  }

 private:
  struct Connection {
    Descriptor socket = {};
    std::uint64_t left = 0;
    bool head = true;
  };

  void ask(Connection& connection) {
    connection.left = std::min(kPart, bytes_ - asked_);
    connection.head = true;
    const std::string request =
        "GET /bucket/data HTTP/1.1\r\nHost: h\r\nRange: bytes=" + std::to_string(asked_) + '-' +
        std::to_string(asked_ + connection.left - 1) + "\r\n\r\n";
    asked_ += connection.left;
    static_cast<void>(!::send(connection.socket.number(), request.data(), request.size(), 0));
  }

  bool receive(std::size_t number) {
    Connection& connection = sockets_[number];
    std::vector<char>& buffer = buffers_[number];
    const std::size_t at = kPart - connection.left;
    const ssize_t got =
        ::recv(connection.socket.number(), buffer.data() + (connection.head ? 0 : at % kPart),
               connection.head ? 4096 : connection.left, MSG_DONTWAIT);
    if (got <= 0) return got < 0;
    auto bytes = static_cast<std::uint64_t>(got);
    if (connection.head) {
      const std::string_view text(buffer.data(), bytes);
      bytes -= text.find("\r\n\r\n") + 4;
      connection.head = false;
    }
    connection.left -= bytes;
    received_ += bytes;
    if (connection.left == 0 && asked_ < bytes_) ask(connection);
    return true;
  }

  const int port_;
  const std::uint64_t bytes_;
  Buffers& buffers_;
  Descriptor epoll_;
  std::vector<Connection> sockets_;
  std::uint64_t asked_ = 0;
  std::uint64_t received_ = 0;
};

Result<Fetched> fetch_plainly(const ServerProcess& server, std::uint64_t bytes, Buffers& buffers) {
  const double cpu = own_cpu_seconds();
  const Stopwatch watch;
  if (auto status = PlainLoop(server.port(), bytes, buffers).run(); !status) return pass(status);
  return Fetched{.seconds = watch.seconds(), .cpu_seconds = own_cpu_seconds() - cpu};
}

/// Fetches every part of a file, 64 at a time.
Result<Fetched> fetch_ours(const ServerProcess& server, std::uint64_t bytes, Buffers& buffers) {
  FileSystems systems;
  StoreClientOptions options;
  options.storage.connections = kInFlight;
  add_stores(systems, options, [](const char*) { return std::nullopt; });
  const double cpu = own_cpu_seconds();
  const Stopwatch watch;
  auto file = systems.of(server.path())->open(server.path());
  if (!file) return pass(file);
  std::vector<std::unique_ptr<PendingRead>> reads(kInFlight);
  const std::uint64_t parts = (bytes + kPart - 1) / kPart;
  for (std::uint64_t part = 0; part < parts + kInFlight; ++part) {
    auto& read = reads[part % kInFlight];
    if (read) {
      if (auto status = read->wait(); !status) return pass(status);
      read.reset();
    }
    if (part >= parts) continue;
    const std::uint64_t offset = part * kPart;
    const auto size = static_cast<std::size_t>(std::min(kPart, bytes - offset));
    read = (*file)->begin_read({{offset, std::span(buffers[part % kInFlight]).first(size)}});
  }
  return Fetched{.seconds = watch.seconds(),
                 .cpu_seconds = own_cpu_seconds() - cpu,
                 .requests = static_cast<double>(systems.counts()->requests() - 1)};  // HEAD
}

Status write_object(const BenchFolder& folder, std::uint64_t bytes) {
  std::string piece(kPart, '\0');
  Random random(1);
  for (std::size_t i = 0; i + 8 <= piece.size(); i += 8) {
    const std::uint64_t word = random.next();
    std::copy_n(reinterpret_cast<const char*>(&word), sizeof word, piece.data() + i);
  }
  std::error_code problem;
  std::filesystem::create_directory(folder.path() + "/bucket", problem);
  std::FILE* const file = std::fopen((folder.path() + "/bucket/data").c_str(), "wb");
  bool written = file != nullptr;
  for (std::uint64_t at = 0; written && at < bytes; at += kPart) {
    const auto size = static_cast<std::size_t>(std::min(kPart, bytes - at));
    written = std::fwrite(piece.data(), 1, size, file) == size;
  }
  if (file != nullptr) written = std::fclose(file) == 0 && written;
  return written ? Status{} : fail(Code::kUnavailable, folder.path() + ": the disk is full");
}

/// A store as far away as AWS's: 60 ms to the first byte, twice that for one request in a thousand.
StubOptions far_away(const BenchFolder& folder) {
  StubOptions options;
  options.folder = folder.path();
  options.latency = 0.060;
  options.slow_latency = 0.120;
  options.slow_share = 0.001;
  return options;
}

BenchResults measure_transfer(const BenchOptions& options, const BenchFolder& folder,
                              const ServerProcess& sound_server,
                              const ServerProcess& faulty_server) {
  const std::uint64_t bytes = options.rows << 20;
  if (auto status = write_object(folder, bytes); !status) return pass(status);
  Buffers buffers(kInFlight, std::vector<char>(kPart));
  Measurements all;
  const auto add = [&all, bytes](const std::string& name, const Fetched& fetched) {
    all.add(name + "_rate", static_cast<double>(bytes) / kMega / fetched.seconds);
    all.add(name + "_cpu", fetched.cpu_seconds / (static_cast<double>(bytes) / kGiB));
    all.add(name + "_seconds", fetched.seconds);
    all.add(name + "_requests", fetched.requests);
  };
  auto measured = each_round(options.rounds, [&]() -> Status {
    auto plain = fetch_plainly(sound_server, bytes, buffers);
    if (!plain) return pass(plain);
    auto ours = fetch_ours(sound_server, bytes, buffers);
    if (!ours) return pass(ours);
    auto through_faults = fetch_ours(faulty_server, bytes, buffers);
    if (!through_faults) return pass(through_faults);
    add("plain", *plain);
    add("ours", *ours);
    add("faulty", *through_faults);
    return {};
  });
  if (!measured) return pass(measured);
  const std::uint64_t num_parts = (bytes + kPart - 1) / kPart;
  const auto parts = static_cast<double>(num_parts);
  return std::vector<BenchResult>{
      BenchResult::over("store", all["ours_rate"], "MB/s", all["plain_rate"]),
      BenchResult::under("store_cpu", all["ours_cpu"], "s/GiB", all["plain_cpu"]),
      BenchResult::under("store_requests", all["ours_requests"], "requests", parts),
      BenchResult::under("store_with_faults", all["faulty_seconds"], "s", all["ours_seconds"]),
      BenchResult::under("store_requests_with_faults", all["faulty_requests"], "requests", parts)};
}

}  // namespace

BenchResults bench_store(const BenchOptions& options) {
  constexpr std::array kParts = {"transfer", "criteo", "dlrm"};
  if (!options.only.empty() && std::ranges::find(kParts, options.only) == kParts.end()) {
    return fail(Code::kInvalid,
                "--only " + options.only + ": known parts are transfer, criteo and dlrm");
  }
  auto folder = BenchFolder::make();
  if (!folder) return pass(folder);
  StubOptions faulty = far_away(*folder);
  faulty.refused_share = 0.05;
  faulty.stalled_share = 0.01;
  auto sound_server = start_server(far_away(*folder));
  if (!sound_server) return pass(sound_server);
  auto faulty_server = start_server(faulty);
  if (!faulty_server) return pass(faulty_server);
  const StorePlace store{.folder = folder->path(), .port = sound_server->port()};
  std::vector<BenchResult> results;
  for (const std::string part : kParts) {
    if (!options.only.empty() && options.only != part) continue;
    auto more = part == "transfer"
                    ? measure_transfer(options, *folder, *sound_server, *faulty_server)
                : part == "criteo" ? measure_criteo_job(options, store)
                                   : measure_dlrm_job(options, store);
    if (!more) return more;
    results.insert(results.end(), more->begin(), more->end());
  }
  return results;
}

}  // namespace forebay
