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

  /// A new pair, of the system's randomness.
  static Result<KeyPair> generate();
};

/// The keys in one folder, as `forebay keys new` makes it:
///
///     server.key           the public key of whoever listens: every node needs it
///     server.key_secret    0600; only where something listens
///     client.key           of whoever connects
///     client.key_secret    0600
///     clients/NAME.key     public keys that are let in; one shared by all, or one a node
///
/// A value. Which files must be there is said when they are used.
struct CurveKeys {
  std::string folder;
  std::string server_public;
  std::optional<std::string> server_secret;
  std::optional<KeyPair> client;

  std::string clients_folder() const { return folder + "/clients"; }

  /// Makes `folder`, which must not be there yet, with a server's pair and a client's that is let
  /// in.
  static Status create(const std::string& folder);

  /// Adds the pair of one more client: NAME.key and NAME.key_secret, let in by clients/NAME.key.
  static Status add_client(const std::string& folder, const std::string& name);

  /// Refuses secrets that others may read, and what is no key.
  static Result<CurveKeys> read(const std::string& folder);
};

/// The key in the text of a key file: 40 letters of Z85, perhaps with a line's end.
std::optional<std::string> key_in(std::string_view text);

/// The key in a file. Never waits for a FIFO and never opens a device; reads no more than a key's
/// length. kNotFound: no such file; kUnavailable: it cannot be opened at the moment, as too many
/// files are open; kInvalid: it holds no key.
Result<std::string> read_key(const std::string& path);

}  // namespace forebay
