#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "actors/input/file_system.h"
#include "actors/input/store/stores.h"
#include "tests/support/temp_dir.h"
#include "tools/bench/store/stub_server.h"

namespace forebay::test {

/// A store with one bucket, `bucket`, whose objects are the files of a folder, and file systems
/// that read it. Requests have to be signed.
class StubStore {
 public:
  explicit StubStore(const std::function<void(StorageSpec&)>& change = {}) {
    folder_.write("bucket/.keep", "");
    StubOptions options;
    options.folder = folder_.path();
    options.access_key = "AKIDEXAMPLE";
    options.secret = "secret/EXAMPLE+KEY";
    options.token = "session==token";
    options.page_keys = 2;  // so that every listing has several pages
    server_ = std::move(*StubServer::open(options));
    thread_ = std::thread([this] { server_->run(); });
    StorageSpec storage;
    storage.endpoint = server_->address();
    if (change) change(storage);
    StoreClientOptions client;
    client.storage = storage;
    client.announce = [this](const std::string& line) { announced = line; };
    add_stores(systems, client, environment());
  }
  ~StubStore() {
    systems = FileSystems();
    server_->stop();
    thread_.join();
  }
  StubStore(const StubStore&) = delete;
  StubStore& operator=(const StubStore&) = delete;

  static Environment environment() {
    return [](const char* name) -> std::optional<std::string> {
      const std::string wanted = name;
      if (wanted == "AWS_ACCESS_KEY_ID") return "AKIDEXAMPLE";
      if (wanted == "AWS_SECRET_ACCESS_KEY") return "secret/EXAMPLE+KEY";
      if (wanted == "AWS_SESSION_TOKEN") return "session==token";
      return std::nullopt;
    };
  }

  StubServer& server() const { return *server_; }
  const TempDir& folder() const { return folder_; }
  std::string write(const std::string& key, std::string_view content) const {
    folder_.write("bucket/" + key, content);
    return "s3://bucket/" + key;
  }
  /// The address of an object for http(s).
  std::string address(const std::string& key) const {
    return server_->address() + "/bucket/" + key;
  }
  Result<std::unique_ptr<const InputFile>> open(const std::string& path) const {
    return systems.of(path)->open(path);
  }

  FileSystems systems;
  std::string announced;  ///< The last line.

 private:
  TempDir folder_;
  std::unique_ptr<StubServer> server_;
  std::thread thread_;
};

}  // namespace forebay::test
