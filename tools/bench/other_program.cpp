#include "tools/bench/other_program.h"

#include <array>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "core/base/json_text.h"

namespace forebay {

Result<std::map<std::string, double>> numbers_said_by(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return fail(Code::kUnavailable, "cannot start a shell for: " + command);
  std::array<char, 4096> buffer{};
  const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe);
  const int status = ::pclose(pipe);
  const auto said = parse_json({buffer.data(), size});
  if (status != 0 || !said.is_object()) {
    return fail(Code::kUnavailable, "gave no figures; is it built or installed? " + command);
  }
  std::map<std::string, double> numbers;
  for (const auto& [name, value] : said.items()) {
    if (value.is_number()) numbers[name] = value.get<double>();
  }
  return numbers;
}

}  // namespace forebay
