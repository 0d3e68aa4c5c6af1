#include "core/net/zmq/zmq_transport.h"

#include <utility>

#include "core/net/zmq/zmq_loop.h"

namespace forebay {

ZmqTransport::ZmqTransport(Options options, const Clock& clock)
    : loop_(std::make_unique<Loop>(std::move(options), clock)) {}

ZmqTransport::~ZmqTransport() { stop(); }

void ZmqTransport::start(TransportHandler& handler) { loop_->start(handler); }

Result<std::string> ZmqTransport::listen(const std::string& address) {
  return loop_->listen(address);
}

Status ZmqTransport::connect(const std::string& address) { return loop_->connect(address); }

void ZmqTransport::disconnect(const std::string& address) { loop_->disconnect(address); }

Status ZmqTransport::send(PeerId peer, Lane lane, std::span<const std::byte> head, Frames body) {
  return loop_->send(peer, lane, head, std::move(body));
}

void ZmqTransport::close(PeerId peer, const std::string& reason) { loop_->close(peer, reason); }

void ZmqTransport::stop() { loop_->stop(); }

TransportCounts ZmqTransport::counts() const { return loop_->counts(); }

}  // namespace forebay
