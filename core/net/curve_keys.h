#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace forebay {

/// A CURVE key pair, each key as 40 letters of Z85.
struct KeyPair {
  std::string public_key;
  std::string secret_key;

  /// Generates a new pair from the system's randomness.
  static Result<KeyPair> generate();
};

/// The keys in one folder, as `forebay keys new` creates it:
///
///     server.key           the listener's public key: every node needs it
///     server.key_secret    only on nodes that listen
///     client.key           the public key of a node that connects
///     client.key_secret
///     clients/NAME.key     public keys that may connect; one shared by all nodes, or one per node
///
/// Only their owner can read the files and enter the folders. A value. A missing file is reported
/// when it is needed.
struct CurveKeys {
  std::string folder;
  std::string server_public;
  std::optional<std::string> server_secret;
  std::optional<KeyPair> client;

  std::string clients_folder() const { return folder + "/clients"; }

  /// Creates `folder`, which must not exist yet, with a key pair of the server and one of a client
  /// that may connect. Leaves nothing if it fails.
  static Status create(const std::string& folder);

  /// Adds a client's key pair: NAME.key and NAME.key_secret. clients/NAME.key lets it connect.
  static Status add_client(const std::string& folder, const std::string& name);

  /// Reads the keys. Refuses secret files that other users may read, and files that hold no key.
  static Result<CurveKeys> read(const std::string& folder);
};

/// Parses the text of a key file: 40 letters of Z85, optionally with a newline.
std::optional<std::string> key_in(std::string_view text);

/// Reads the key in a file. Never blocks on a FIFO and never opens a device; reads no more than a
/// key's length. kNotFound: no such file; kUnavailable: the file cannot be opened now, for example
/// because too many files are open; kInvalid: it holds no key.
Result<std::string> read_key(const std::string& path);

}  // namespace forebay
