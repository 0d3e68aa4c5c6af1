#include "engine/cluster/node_logs.h"

#include <filesystem>
#include <system_error>

#include "actors/input/store/protocol/url.h"

namespace forebay {
namespace {

constexpr std::string_view kBegin = "decisions-";
constexpr std::string_view kEnd = ".jsonl";

std::string stem_of(const std::string& run_dir, const std::string& node) {
  std::string path = run_dir;
  return path.append("/").append(kBegin).append(percent_encode(node, Slash::kEncode));
}

}  // namespace

std::string central_log_path(const std::string& run_dir) { return run_dir + "/central.jsonl"; }

std::string node_log_path(const std::string& run_dir, const std::string& node) {
  return stem_of(run_dir, node).append(kEnd);
}

std::string earlier_node_log_path(const std::string& run_dir, const std::string& node,
                                  std::uint32_t number) {
  return stem_of(run_dir, node).append("+").append(std::to_string(number)).append(kEnd);
}

Status keep_node_log(const std::string& run_dir, const std::string& node, std::uint32_t begun) {
  std::error_code error;
  if (begun == 0) {
    std::uint32_t number = 1;
    while (std::filesystem::remove(earlier_node_log_path(run_dir, node, number), error)) ++number;
    return {};
  }
  std::filesystem::rename(node_log_path(run_dir, node), earlier_node_log_path(run_dir, node, begun),
                          error);
  if (!error || error == std::errc::no_such_file_or_directory) return {};
  return fail(Code::kUnavailable, error.message());
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
