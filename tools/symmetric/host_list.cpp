#include "tools/symmetric/host_list.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/base/text/number.h"

namespace forebay {
namespace {

constexpr std::size_t kMostHosts = 65536;
constexpr std::size_t kMostDigits = 9;

using Names = std::vector<std::string>;

Result<std::uint32_t> number(std::string_view digits) {
  const auto value = parse_number<std::uint32_t>(digits);
  if (value && digits.size() <= kMostDigits) return *value;
  return fail(Code::kInvalid, "\"" + std::string(digits) + "\" is no number");
}

std::string padded(std::uint32_t value, std::size_t width) {
  std::string digits = std::to_string(value);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return digits;
}

// Parses `01-03` or `7`; all numbers are as wide as the first one.
Status append_range(std::string_view range, Names& numbers) {
  const std::size_t dash = std::min(range.find('-'), range.size());
  const std::string_view first_digits = range.substr(0, dash);
  auto first = number(first_digits);
  if (!first) return pass(first);
  auto last = dash == range.size() ? first : number(range.substr(dash + 1));
  if (!last) return pass(last);
  if (*last < *first) return fail(Code::kInvalid, std::string(range) + " runs backwards");
  if (*last - *first >= kMostHosts || numbers.size() + *last - *first >= kMostHosts) {
    return fail(Code::kInvalid, "it names more than 65536 hosts");
  }
  for (std::uint32_t value = *first; value <= *last; ++value) {
    numbers.push_back(padded(value, first_digits.size()));
  }
  return {};
}

Result<Names> bracket_numbers(std::string_view inside) {
  Names numbers;
  while (true) {
    const std::size_t comma = std::min(inside.find(','), inside.size());
    if (auto status = append_range(inside.substr(0, comma), numbers); !status) return pass(status);
    if (comma == inside.size()) return numbers;
    inside.remove_prefix(comma + 1);
  }
}

Result<Names> times(const Names& names, const Names& ends) {
  if (names.size() * ends.size() > kMostHosts) {
    return fail(Code::kInvalid, "it names more than 65536 hosts");
  }
  Names products;
  products.reserve(names.size() * ends.size());
  for (const std::string& name : names) {
    for (const std::string& end : ends) products.push_back(name + end);
  }
  return products;
}

// Expands one item: text and brackets alternate.
Result<Names> expand_item(std::string_view item) {
  Names names = {""};
  while (!item.empty()) {
    const bool bracket = item.front() == '[';
    const std::size_t end = bracket ? item.find(']') : std::min(item.find('['), item.size());
    if (end == std::string_view::npos) return fail(Code::kInvalid, "a bracket is left open");
    Names ends = {std::string(item.substr(0, end))};
    if (bracket) {
      auto numbers = bracket_numbers(item.substr(1, end - 1));
      if (!numbers) return pass(numbers);
      ends = std::move(*numbers);
    }
    auto longer = times(names, ends);
    if (!longer) return pass(longer);
    names = std::move(*longer);
    item.remove_prefix(bracket ? end + 1 : end);
  }
  return names;
}

// Returns the position of the next comma outside of brackets.
std::size_t item_end(std::string_view list) {
  bool inside = false;
  for (std::size_t at = 0; at < list.size(); ++at) {
    if (list[at] == '[' || list[at] == ']') inside = list[at] == '[';
    if (list[at] == ',' && !inside) return at;
  }
  return list.size();
}

}  // namespace

Result<std::vector<std::string>> expand_hosts(std::string_view list) {
  const auto refuse = [whole = std::string(list.substr(0, 200))](const std::string& why) {
    return fail(Code::kInvalid, "node list " + whole + ": " + why);
  };
  Names hosts;
  while (true) {
    const std::size_t end = item_end(list);
    if (end == 0) return refuse("a name is empty");
    auto names = expand_item(list.substr(0, end));
    if (!names) return refuse(names.error().message);
    if (hosts.size() + names->size() > kMostHosts) return refuse("it names more than 65536 hosts");
    hosts.insert(hosts.end(), names->begin(), names->end());
    if (end == list.size()) return hosts;
    list.remove_prefix(end + 1);
  }
}

}  // namespace forebay
