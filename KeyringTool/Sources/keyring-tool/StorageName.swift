// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyringToolCommands

/// The name of a storage on the command line.
enum StorageName: Equatable, ExpressibleByArgument {
  case keyring(collection: String?)
  case file(path: String)
  case fleet(namespace: String)

  init?(argument: String) {
    let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    switch (parts[0], parts.count == 2 ? String(parts[1]) : nil) {
    case ("keyring", nil): self = .keyring(collection: nil)
    case (_, nil), (_, ""): return nil
    case ("keyring", let label?): self = .keyring(collection: label)
    case ("file", let path?): self = .file(path: Self.withoutTilde(path))
    case ("etcd", let namespace?): self = .fleet(namespace: namespace)
    default: return nil
    }
  }

  /// Replaces a tilde by the home directory, as a shell does only at the beginning of a word.
  static func withoutTilde(_ path: String) -> String {
    guard path.hasPrefix("~/"), let home = getenv("HOME") else { return path }
    return String(cString: home) + path.dropFirst()
  }

  /// The help of an option with such a name.
  static func help(_ meaning: String, discussion: String = "") -> ArgumentHelp {
    ArgumentHelp(
      """
      \(meaning): "keyring", "keyring:" and the label of a collection, "file:" and the path of an \
      encrypted file, or "etcd:" and the namespace of a fleet.
      """,
      discussion: discussion, valueName: "storage")
  }

  /// The storage, as the end of a sentence.
  var place: String {
    switch self {
    case .keyring(nil): "the default collection"
    case .keyring(let label?): "the collection \"\(label.printable)\""
    case .file(let path): "the file \(path.printable)"
    case .fleet(let namespace): "the namespace \"\(namespace.printable)\" of the fleet"
    }
  }

  /// The only storage that is a default, in the help.
  var defaultValueDescription: String { "keyring" }
}
