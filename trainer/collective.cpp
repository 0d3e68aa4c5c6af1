#include "trainer/collective.h"

#include <numeric>

namespace forebay {

Result<double> sum_over_ranks(Collective& collective, double value) {
  const auto ranks = static_cast<std::size_t>(collective.size());
  auto values = exchange_each(collective, std::vector<double>(ranks, value));
  if (!values) return pass(values);
  return std::accumulate(values->begin(), values->end(), 0.0);
}

Result<std::vector<std::string>> all_gather(Collective& collective, const std::string& text,
                                            std::size_t most) {
  const auto ranks = static_cast<std::size_t>(collective.size());
  auto lengths = exchange_each(collective, std::vector<std::size_t>(ranks, text.size()));
  if (!lengths) return pass(lengths);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::size_t length = (*lengths)[rank];
    if (length <= most) continue;
    return fail(Code::kInvalid, "rank " + std::to_string(rank) + " has " + std::to_string(length) +
                                    " bytes to say, above " + std::to_string(most));
  }
  std::string all;
  for (std::size_t rank = 0; rank < ranks; ++rank) all.append(text);
  std::string received(std::accumulate(lengths->begin(), lengths->end(), std::size_t{0}), '\0');
  auto got = collective
                 .start_all_to_all({std::as_bytes(std::span(all)),
                                    std::vector<std::size_t>(ranks, text.size()),
                                    std::as_writable_bytes(std::span(received)), *lengths})
                 ->wait();
  if (!got) return pass(got);
  std::vector<std::string> texts;
  texts.reserve(ranks);
  std::size_t begin = 0;
  for (const std::size_t length : *lengths) {
    texts.push_back(received.substr(begin, length));
    begin += length;
  }
  return texts;
}

}  // namespace forebay
