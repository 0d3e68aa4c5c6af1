#include "core/net/zap_authenticator.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <utility>
#include <vector>

#include "core/net/curve_keys.h"
#include "core/net/zmq_frames.h"

namespace forebay {
namespace {

/// Route, delimiter, version, request, domain, address, identity, mechanism, one key.
constexpr std::size_t kRequestParts = 9;
constexpr std::size_t kKeyBytes = 32;

std::string z85_of(const zmq::message_t& key) {
  std::array<char, 41> letters{};
  zmq_z85_encode(letters.data(), static_cast<const std::uint8_t*>(key.data()), key.size());
  return letters.data();
}

void answer(zmq::socket_t& socket, Parts& request, bool let_in, const std::string& user) {
  const std::array<std::string, 6> rest = {
      "1.0", request[3].to_string(), let_in ? "200" : "400", let_in ? "OK" : "no such key", user,
      ""};
  const auto put = [&](zmq::message_t part, int flags) {
    static_cast<void>(zmq_msg_send(part.handle(), socket.handle(), flags | ZMQ_DONTWAIT));
  };
  put(std::move(request[0]), ZMQ_SNDMORE);
  put(zmq::message_t(), ZMQ_SNDMORE);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    put(zmq::message_t(rest[i]), i + 1 < rest.size() ? ZMQ_SNDMORE : 0);
  }
}

}  // namespace

ZapAuthenticator::ZapAuthenticator(zmq::context_t& context, std::string folder)
    : socket_(context, zmq::socket_type::router), folder_(std::move(folder)) {
  socket_.socket.set(zmq::sockopt::linger, 0);
  socket_.socket.bind(kEndpoint);
}

bool ZapAuthenticator::serve() {
  bool served = false;
  Parts request;
  while (receive(socket_, kRequestParts, request) == Came::kMessage) {
    served = true;
    if (request.size() < 4) continue;
    std::string key;
    const bool whole = request.size() == kRequestParts && request[7].to_string_view() == "CURVE" &&
                       request[8].size() == kKeyBytes;
    if (whole) key = z85_of(request[8]);
    const bool let_in = whole && is_known(key);
    if (!let_in) ++refused_;
    answer(socket_.socket, request, let_in, let_in ? key : "");
  }
  return served;
}

bool ZapAuthenticator::is_known(const std::string& key) {
  std::error_code error;
  const auto changed = std::filesystem::last_write_time(folder_, error);
  // Two changes within a tick of the file system's clock have one time: a young one is not trusted.
  const auto age = std::filesystem::file_time_type::clock::now() - changed;
  if (error || changed != read_at_ || age < std::chrono::seconds(2)) read_again();
  read_at_ = error ? std::filesystem::file_time_type{} : changed;
  return known_.contains(key);
}

void ZapAuthenticator::read_again() {
  auto keys = read_public_keys(folder_);
  known_.clear();
  if (keys) known_.insert(keys->begin(), keys->end());
}

}  // namespace forebay
