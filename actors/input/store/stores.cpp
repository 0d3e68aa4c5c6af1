#include "actors/input/store/stores.h"

#include <memory>
#include <utility>

#include "actors/input/store/http_file_system.h"
#include "actors/input/store/s3_file_system.h"

namespace forebay {

FileSystems all_file_systems(StoreClientOptions options, std::shared_ptr<IoCounts> counts) {
  FileSystems systems(std::move(counts));
  add_stores(systems, std::move(options), process_environment());
  return systems;
}

void add_stores(FileSystems& systems, StoreClientOptions options, const Environment& environment) {
  options.counts = systems.counts();
  options.ca_bundle = environment("AWS_CA_BUNDLE").value_or("");
  auto access = find_access(options.storage, environment);
  const auto client = std::make_shared<StoreClient>(std::move(options));
  systems.add("s3://", std::make_shared<const S3FileSystem>(std::move(access), client));
  const auto web = std::make_shared<const HttpFileSystem>(client);
  systems.add("http://", web);
  systems.add("https://", web);
}

}  // namespace forebay
