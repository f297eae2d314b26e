// SPDX-License-Identifier: Apache-2.0

#if Sealing
public import KeyringStorage

/// A source of the key that a storage encrypts its items with.
///
/// The storage asks for the key at its first use, and again after another process has changed the key.
///
/// For a key from any other place, such as a key management service, create a source with a closure of your own:
///
/// ```swift
/// let source = KeySource(named: "vault") { (request) async throws(SecureStorageError) in
///   let key: [UInt8]? = nil  // … your request to the vault
///   guard let key else {
///     throw request.error(.keyNotFound, "The vault has no key for the \(request.subject).")
///   }
///   return Secret(bytes: key)
/// }
/// ```
public struct KeySource: Sendable {
  /// A closure that returns a key, or throws the error for an unavailable one.
  ///
  /// With `await`, a storage may call it on a thread of its own. There it lacks the task's values, such as the
  /// storage of `withSecureStorage`. Capture what it needs.
  public typealias Reading = @Sendable (KeyRequest) async throws(SecureStorageError) -> Secret

  /// The kind of a source, as stored with a wrapped key.
  package enum Kind: UInt8, Sendable {
    case passphrase = 1
    case keyFile = 2
    case systemdCredential = 3
    case storage = 4
    case other = 5

    /// The name of the kind, for use in sentences.
    var noun: String {
      switch self {
      case .passphrase: "passphrase"
      case .keyFile: "key file"
      case .systemdCredential: "systemd credential"
      case .storage: "key in a storage"
      case .other: "key"
      }
    }
  }

  /// The name of the source, for example "key file".
  public let name: String
  package let kind: Kind
  /// The cost of deriving a key from the secret, or `nil` for a random secret.
  package let cost: ScryptCost?
  /// The storage that contains the key, or `nil` for any other source.
  package let storage: (any SecureStorage)?
  /// `true` for a source that creates its key for the first encryption.
  package let createsKey: Bool
  /// The place that keeps the derived keys, or `nil`.
  package var holder: KeyHolder?
  /// Returns what protects the key, which is unknown for a source without a proof.
  ///
  /// A key in a storage has the protection of that storage.
  package var protection: @Sendable () -> StorageProtection = { .unknown }
  private let read: Reading

  /// Creates a source from a closure.
  ///
  /// Several operations may call the closure at the same time. A closure that creates a key must return the same
  /// one to each of them, and to other processes.
  ///
  /// A synchronous operation blocks its thread during the closure. With a closure that waits for the main actor,
  /// for example to show a dialog, use the storage only with `await`. The closure must not use the storage that
  /// asks, which waits for the closure.
  ///
  /// - Parameters:
  ///   - name: The name of the source, which error messages and diagnoses show.
  ///   - read: The closure that returns the key. It must return at least 32 bytes that can't be guessed,
  ///     and the same bytes each time.
  public init(named name: String, _ read: @escaping Reading) {
    self.init(.other, named: name, read: read)
  }

  /// Creates a source from a key that the program has.
  ///
  /// ```swift
  /// let source = KeySource.key(Secret(bytes: keyFromTheVault))
  /// ```
  ///
  /// The key is as safe as the place that the program gets it from.
  ///
  /// - Parameter key: The key. It must have at least 32 bytes that can't be guessed.
  /// - Returns: The source.
  public static func key(_ key: Secret) -> KeySource {
    KeySource(named: "key") { _ throws(SecureStorageError) in key }
  }

  init(
    _ kind: Kind, named name: String? = nil, cost: ScryptCost? = nil,
    storage: (any SecureStorage)? = nil, createsKey: Bool = false, read: @escaping Reading
  ) {
    self.name = name ?? kind.noun
    (self.kind, self.cost, self.storage, self.read) = (kind, cost, storage, read)
    self.createsKey = createsKey
  }

  /// Returns the source, saying what protects its key.
  package func protected(
    by protection: @escaping @autoclosure @Sendable () -> StorageProtection
  ) -> KeySource {
    var source = self
    source.protection = protection
    return source
  }

  /// `true` for a source in which two processes may create different keys at once, of which one is lost.
  ///
  /// Such a key is created under the lock that keeps other processes away until it's in use.
  package var mayLoseNewKey: Bool { kind == .storage }

  /// Returns the passphrase or key of the source.
  package func secret(for request: KeyRequest) async throws(SecureStorageError) -> Secret {
    let secret = try await read(request)
    if kind == .passphrase {
      guard secret.count > 0 else {
        throw request.error(
          .invalidArgument, "The passphrase must not be empty.", argument: "passphrase")
      }
    } else if secret.count < Self.leastByteCount {
      throw request.error(
        .invalidArgument,
        "The key from the \(name) needs at least \(Self.leastByteCount) bytes.",
        recoverySuggestion: "Create a key of 32 random bytes, or use a passphrase.",
        argument: "key")
    }
    return secret
  }

  /// The smallest number of bytes of a key.
  ///
  /// A shorter key could be guessed, because scrypt doesn't slow down the guesses here.
  static let leastByteCount = 32
}

extension KeySource: CustomStringConvertible, CustomReflectable {
  /// The name of the source.
  public var description: String { name }
  /// An empty mirror.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
