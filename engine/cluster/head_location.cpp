#include "engine/cluster/head_location.h"

#include <unistd.h>

#include <array>
#include <utility>

#include "actors/transform/transform.h"
#include "core/data/digest.h"
#include "core/net/host_port.h"
#include "engine/job/text_file.h"

namespace forebay {

Status HeadLocation::open() {
  if (!names_a_file(given_)) return move_to(given_);
  auto status = read();
  if (status || status.error().code != Code::kNotFound) return status;
  trouble_ = status.error().message;
  say_("waiting for " + trouble_);
  return {};
}

void HeadLocation::look() {
  if (!names_a_file(given_)) return;
  const std::string now = address();
  if (!now.empty() && net_.reaches(now)) return;
  const Status status = read();
  const std::string trouble = status ? "" : status.error().message;
  if (!status && trouble != trouble_) say_(trouble);
  trouble_ = trouble;
}

std::string HeadLocation::address() const {
  return serial_([this]() -> std::string { return address_; });
}

Status HeadLocation::read() {
  auto text = read_text_file("the head's address", given_);
  if (!text) return pass(text);
  const std::string line = text->substr(0, text->find_first_of("\r\n"));
  if (line.empty()) return fail(Code::kNotFound, "the head's address: " + given_ + " is empty");
  if (auto status = move_to(line); !status) {
    return fail(status.error().code, given_ + ": " + status.error().message);
  }
  return {};
}

Status HeadLocation::move_to(const std::string& address) {
  const std::string place = without_scheme(address);
  const std::string before = this->address();
  if (!before.empty() && place == before) return {};
  if (auto status = net_.connect(place); !status) return status;
  serial_([&] { address_ = place; });
  if (before.empty()) return {};
  net_.disconnect(before);
  say_("the head has moved from " + before + " to " + place);
  return {};
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

std::string reachable(const std::string& address) {
  auto place = parse_address(address);
  if (!place) return address;
  const bool everywhere = place->host == "0.0.0.0" || place->host == "::" || place->host == "*";
  if (everywhere) place->host = host_name();
  return place->text();
}

std::string program_version() { return FOREBAY_VERSION; }

std::string operators_digest() {
  std::string text;
  for (const OpDescription& op : describe_ops()) text.append(op.name).append(1, '\n');
  return Digest::of(text.data(), text.size()).hex();
}

scheduler::WorkerOptions worker_here(const std::string& name) {
  scheduler::WorkerOptions options;
  options.name = name;
  options.host = host_name();
  options.pid = static_cast<std::uint64_t>(::getpid());
  options.version = program_version();
  options.operators = operators_digest();
  return options;
}

}  // namespace forebay
