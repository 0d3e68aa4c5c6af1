#include "engine/cluster/node_logs.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <system_error>

namespace forebay {
namespace {

constexpr std::string_view kBegin = "decisions-";
constexpr std::string_view kEnd = ".jsonl";

bool is_plain(unsigned char letter) {
  constexpr std::string_view kMarks = "-._";
  return std::isalnum(letter) != 0 || kMarks.find(static_cast<char>(letter)) != kMarks.npos;
}

}  // namespace

std::string central_log_path(const std::string& run_dir) { return run_dir + "/central.jsonl"; }

std::string node_log_path(const std::string& run_dir, const std::string& node) {
  std::string name;
  for (const char letter : node) {
    const auto byte = static_cast<unsigned char>(letter);
    std::array<char, 4> code{letter};
    if (!is_plain(byte)) std::snprintf(code.data(), code.size(), "%%%02X", unsigned{byte});
    name += code.data();
  }
  std::string path = run_dir;
  return path.append("/").append(kBegin).append(name).append(kEnd);
}

std::optional<std::string> node_of_log(std::string_view file_name) {
  if (file_name.size() <= kBegin.size() + kEnd.size()) return std::nullopt;
  if (!file_name.starts_with(kBegin) || !file_name.ends_with(kEnd)) return std::nullopt;
  file_name.remove_prefix(kBegin.size());
  file_name.remove_suffix(kEnd.size());
  std::string node;
  for (std::size_t i = 0; i < file_name.size(); ++i) {
    unsigned char byte = static_cast<unsigned char>(file_name[i]);
    if (byte == '%') {
      const std::string_view code = file_name.substr(i + 1, 2);
      const auto read = std::from_chars(code.data(), code.data() + code.size(), byte, 16);
      if (read.ec != std::errc() || read.ptr != code.data() + 2) return std::nullopt;
      i += 2;
    }
    node += static_cast<char>(byte);
  }
  return node;
}

}  // namespace forebay
