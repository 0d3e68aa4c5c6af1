#include "engine/cluster/node_logs.h"

#include "actors/input/store/protocol/url.h"

namespace forebay {
namespace {

constexpr std::string_view kBegin = "decisions-";
constexpr std::string_view kEnd = ".jsonl";

}  // namespace

std::string central_log_path(const std::string& run_dir) { return run_dir + "/central.jsonl"; }

std::string node_log_path(const std::string& run_dir, const std::string& node) {
  std::string path = run_dir;
  return path.append("/").append(kBegin).append(percent_encode(node, Slash::kEncode)).append(kEnd);
}

std::optional<std::string> node_of_log(std::string_view file_name) {
  if (file_name.size() <= kBegin.size() + kEnd.size()) return std::nullopt;
  if (!file_name.starts_with(kBegin) || !file_name.ends_with(kEnd)) return std::nullopt;
  file_name.remove_prefix(kBegin.size());
  file_name.remove_suffix(kEnd.size());
  const std::string node = percent_decode(file_name);
  if (percent_encode(node, Slash::kEncode) != file_name) return std::nullopt;
  return node;
}

}  // namespace forebay
