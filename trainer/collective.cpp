#include "trainer/collective.h"

#include <numeric>

namespace forebay {

Status barrier(Collective& collective) {
  float nothing = 0;
  return collective.start_all_reduce({&nothing, 1})->wait();
}

Result<double> sum_over_ranks(Collective& collective, double value) {
  const auto ranks = static_cast<std::size_t>(collective.size());
  std::vector<double> sent(ranks, value);
  std::vector<double> values(ranks);
  const std::vector<std::size_t> each(ranks, sizeof(double));
  auto announced = collective
                       .start_all_to_all({std::as_bytes(std::span(sent)), each,
                                          std::as_writable_bytes(std::span(values)), each})
                       ->wait();
  if (!announced) return pass(announced);
  return std::accumulate(values.begin(), values.end(), 0.0);
}

Result<std::vector<std::string>> all_gather(Collective& collective, const std::string& text,
                                            std::size_t most) {
  const auto ranks = static_cast<std::size_t>(collective.size());
  const std::uint64_t own = text.size();
  std::vector<std::uint64_t> sent(ranks, own);
  std::vector<std::uint64_t> sizes(ranks);
  const std::vector<std::size_t> eight(ranks, sizeof(std::uint64_t));
  auto announced = collective
                       .start_all_to_all({std::as_bytes(std::span(sent)), eight,
                                          std::as_writable_bytes(std::span(sizes)), eight})
                       ->wait();
  if (!announced) return pass(announced);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (sizes[rank] <= most) continue;
    return fail(Code::kInvalid, "rank " + std::to_string(rank) + " has " +
                                    std::to_string(sizes[rank]) + " bytes to say, above " +
                                    std::to_string(most));
  }
  std::string all;
  for (std::size_t rank = 0; rank < ranks; ++rank) all.append(text);
  const std::vector<std::size_t> lengths(sizes.begin(), sizes.end());
  std::string received(std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}), '\0');
  auto got = collective
                 .start_all_to_all({std::as_bytes(std::span(all)),
                                    std::vector<std::size_t>(ranks, text.size()),
                                    std::as_writable_bytes(std::span(received)), lengths})
                 ->wait();
  if (!got) return pass(got);
  std::vector<std::string> texts;
  texts.reserve(ranks);
  std::size_t begin = 0;
  for (const std::size_t length : lengths) {
    texts.push_back(received.substr(begin, length));
    begin += length;
  }
  return texts;
}

}  // namespace forebay
