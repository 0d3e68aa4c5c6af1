#include "actors/input/store/protocol/credentials.h"

#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

#include "core/base/text/text.h"
#include "core/base/whole_file.h"

namespace forebay {
namespace {

using Fields = std::map<std::string, std::string, std::less<>>;

constexpr std::size_t kMostProfileBytes = 1 << 20;

/// Returns the `key = value` lines below `[section]` of an ini file; nothing without that section.
std::optional<Fields> fields_of(std::string_view text, std::string_view section) {
  std::optional<Fields> fields;
  bool inside = false;
  while (!text.empty()) {
    const std::string_view line = trimmed(take_until(text, '\n'));
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[' && line.back() == ']') {
      inside = trimmed(line.substr(1, line.size() - 2)) == section;
      if (inside && !fields) fields.emplace();
    } else if (const auto equals = line.find('='); inside && equals != std::string_view::npos) {
      (*fields)[std::string(trimmed(line.substr(0, equals)))] = trimmed(line.substr(equals + 1));
    }
  }
  return fields;
}

std::string value_of(const Fields& fields, std::string_view name) {
  const auto found = fields.find(name);
  return found == fields.end() ? "" : found->second;
}

std::optional<Fields> section_of_file(const std::string& path, const std::string& section) {
  const auto text = read_whole(path, kMostProfileBytes);
  return text ? fields_of(*text, section) : std::nullopt;
}

/// Returns the fields of a profile: of the file of credentials, then of the file of settings.
Result<Fields> profile_of(const std::string& name, const Environment& environment) {
  const std::string home = environment("HOME").value_or("") + "/.aws/";
  const std::string secrets =
      environment("AWS_SHARED_CREDENTIALS_FILE").value_or(home + "credentials");
  const std::string settings = environment("AWS_CONFIG_FILE").value_or(home + "config");
  auto fields = section_of_file(secrets, name);
  auto more = section_of_file(settings, name == "default" ? name : "profile " + name);
  if (!fields && !more) {
    return fail(Code::kInvalid, "storage.credentials: there is no profile " + name + " in " +
                                    secrets + " or " + settings);
  }
  Fields all = fields.value_or(Fields{});
  if (more) all.insert(more->begin(), more->end());
  return all;
}

Result<Credentials> of_profile(const Fields& profile, const std::string& name) {
  Credentials found{.access_key = value_of(profile, "aws_access_key_id"),
                    .secret = value_of(profile, "aws_secret_access_key"),
                    .token = value_of(profile, "aws_session_token")};
  if (!found.access_key.empty() && !found.secret.empty()) return found;
  return fail(Code::kInvalid, "storage.credentials: profile " + name +
                                  " has no aws_access_key_id and aws_secret_access_key; other ways "
                                  "to sign in are not read");
}

Result<Credentials> of_environment(const Environment& environment) {
  Credentials found{.access_key = environment("AWS_ACCESS_KEY_ID").value_or(""),
                    .secret = environment("AWS_SECRET_ACCESS_KEY").value_or(""),
                    .token = environment("AWS_SESSION_TOKEN").value_or("")};
  if (!found.access_key.empty() && !found.secret.empty()) return found;
  return fail(
      Code::kInvalid,
      std::string(found.access_key.empty() ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY") +
          " is not set; set it, or storage.credentials to \"profile:NAME\" or "
          "\"anonymous\"");
}

}  // namespace

Result<StoreAccess> find_access(const StorageSpec& spec, const Environment& environment) {
  constexpr std::string_view kProfile = "profile:";
  StoreAccess access{.credentials = {}, .endpoint = spec.endpoint, .region = spec.region};
  Fields profile;
  Result<Credentials> credentials = Credentials{};
  if (spec.credentials.starts_with(kProfile)) {
    const std::string name = spec.credentials.substr(kProfile.size());
    auto found = profile_of(name, environment);
    if (!found) return pass(found);
    profile = std::move(*found);
    credentials = of_profile(profile, name);
  } else if (spec.credentials == "env") {
    credentials = of_environment(environment);
  }
  if (!credentials) return pass(credentials);
  access.credentials = std::move(*credentials);
  const auto fill = [&environment](std::string& into, const char* name) {
    if (into.empty()) into = environment(name).value_or("");
  };
  fill(access.endpoint, "AWS_ENDPOINT_URL");
  fill(access.region, "AWS_REGION");
  fill(access.region, "AWS_DEFAULT_REGION");
  if (access.endpoint.empty()) access.endpoint = value_of(profile, "endpoint_url");
  if (access.region.empty()) access.region = value_of(profile, "region");
  if (access.region.empty()) access.region = "us-east-1";
  return access;
}

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);  // NOLINT: nothing changes the environment.
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  };
}

}  // namespace forebay
