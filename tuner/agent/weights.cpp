#include "tuner/agent/weights.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/base/random.h"
#include "core/base/whole_file.h"

namespace forebay::tuner {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::array<char, 8> kMagic{'F', 'B', 'I', 'N', 'T', 'U', 'N', '1'};
constexpr std::size_t kHeader = kMagic.size() + 3 * sizeof(std::uint32_t);

std::uint64_t checksum(std::span<const unsigned char> bytes) {
  std::uint64_t sum = bytes.size();
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
    sum = mix64(sum, word);
  }
  return sum;
}

std::span<const unsigned char> bytes_of(const std::string& text) {
  return {reinterpret_cast<const unsigned char*>(text.data()), text.size()};
}

template <class T>
void append(std::string& text, const T& value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::size_t file_size(Network::Shape shape) {
  return kHeader + Network(shape).weights().size() * sizeof(float) + sizeof(std::uint64_t);
}

tl::unexpected<Error> refused(const std::string& where, const std::string& why) {
  return fail(Code::kCorrupt,
              where + ": " + why + "; `forebay tune pretrain --out FILE` makes weights anew");
}

}  // namespace

std::string encode_weights(const Network& network) {
  std::string text(kMagic.data(), kMagic.size());
  append(text, network.shape().inputs);
  append(text, network.shape().hidden);
  append(text, network.shape().outputs);
  for (const float weight : network.weights()) append(text, weight);
  append(text, checksum(bytes_of(text)));
  return text;
}

Result<Network> decode_weights(std::span<const unsigned char> bytes, Network::Shape shape,
                               const std::string& where) {
  if (bytes.size() < kHeader || std::memcmp(bytes.data(), kMagic.data(), kMagic.size() - 1) != 0) {
    return refused(where, "no weights of intune");
  }
  if (bytes[kMagic.size() - 1] != static_cast<unsigned char>(kMagic.back())) {
    return refused(where, "weights of another version");
  }
  Network::Shape found;
  std::memcpy(&found, bytes.data() + kMagic.size(), sizeof found);
  if (found != shape) return refused(where, "weights of another network");
  if (bytes.size() != file_size(shape)) return refused(where, "weights cut short or too long");
  const std::span<const unsigned char> summed = bytes.first(bytes.size() - sizeof(std::uint64_t));
  std::uint64_t sum = 0;
  std::memcpy(&sum, summed.data() + summed.size(), sizeof sum);
  if (sum != checksum(summed)) return refused(where, "damaged weights");

  Network network(shape);
  std::memcpy(network.weights().data(), bytes.data() + kHeader,
              network.weights().size() * sizeof(float));
  for (const float weight : network.weights()) {
    if (!std::isfinite(weight)) return refused(where, "weights that are no numbers");
  }
  return network;
}

Result<Network> read_weights(const std::string& path, Network::Shape shape) {
  const auto text = read_whole(path, file_size(shape));
  if (!text) return fail(text.error().code, text.error().message);
  return decode_weights(
      std::span(reinterpret_cast<const unsigned char*>(text->data()), text->size()), shape, path);
}

}  // namespace forebay::tuner
