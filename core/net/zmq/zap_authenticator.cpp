#include "core/net/zmq/zap_authenticator.h"

#include <array>
#include <utility>

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

ZapAuthenticator::ZapAuthenticator(zmq::context_t& context, std::string folder, KeyFolder::Say say)
    : socket_(context, zmq::socket_type::router), keys_(std::move(folder), std::move(say)) {
  socket_.socket.set(zmq::sockopt::linger, 0);
  socket_.socket.bind(kEndpoint);
}

void ZapAuthenticator::serve(KeyFolder::Time now) {
  Parts request;
  while (receive(socket_, kRequestParts, request) == ReceiveResult::kMessage) {
    if (request.size() < 4) continue;
    std::string key;
    const bool whole = request.size() == kRequestParts && request[7].to_string_view() == "CURVE" &&
                       request[8].size() == kKeyBytes;
    if (whole) key = z85_of(request[8]);
    const bool let_in = whole && keys_.has(key, now);
    if (!let_in) ++refused_;
    answer(socket_.socket, request, let_in, let_in ? key : "");
  }
}

}  // namespace forebay
