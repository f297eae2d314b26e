#if EncryptedFile
public import KeyringStorage

/// The source of the key that an encrypted file is encrypted with.
///
/// The storage asks for the key when the file is first used, and again when another process has changed the
/// key.
public struct KeySource: Sendable {
  /// The purpose that a key is needed for.
  enum Purpose: Sendable {
    /// An existing file.
    case existing
    /// A file that is about to be created; the key may be created along with it.
    case new
    /// A file that is only looked at: `.locked` is thrown instead of asking anyone or unlocking anything.
    case looking
  }

  typealias Reading = @Sendable (Purpose, FileLocation) throws(SecureStorageError) -> Secret

  let kind: Kind
  /// The cost of deriving a key from the secret, or `nil` if the secret can't be guessed.
  let cost: ScryptCost?
  /// The storage that contains the key, if the source is a storage.
  let storage: (any SecureStorage)?
  private let read: Reading

  init(
    _ kind: Kind, cost: ScryptCost? = nil, storage: (any SecureStorage)? = nil,
    read: @escaping Reading
  ) {
    (self.kind, self.cost, self.storage, self.read) = (kind, cost, storage, read)
  }

  /// Creates a source from a known passphrase.
  ///
  /// The key is derived from the passphrase with scrypt. This takes about a quarter of a second and 128 MiB
  /// of memory, once for each file that a process opens.
  ///
  /// - Parameter passphrase: The passphrase, which must not be empty.
  /// - Returns: The source.
  public static func passphrase(_ passphrase: Secret) -> KeySource {
    self.passphrase { () throws(SecureStorageError) in passphrase }
  }

  /// Creates a source that asks for a passphrase when it's needed.
  ///
  /// - Parameter ask: The closure that returns the passphrase or throws an error, such as `.userCanceled`.
  ///   It's called on the thread of the operation, by one thread at a time. After a wrong passphrase, the
  ///   next operation calls it again.
  /// - Returns: The source.
  public static func passphrase(
    asking ask: @escaping @Sendable () throws(SecureStorageError) -> Secret
  ) -> KeySource {
    passphrase(cost: .standard, asking: ask)
  }

  static func passphrase(
    cost: ScryptCost, asking ask: @escaping @Sendable () throws(SecureStorageError) -> Secret
  ) -> KeySource {
    KeySource(.passphrase, cost: cost) { (purpose, place) throws(SecureStorageError) in
      if purpose == .looking {
        throw SecureStorageError(.locked, place, "The passphrase of the file isn't known yet.")
      }
      let passphrase = try ask()
      guard passphrase.count > 0 else {
        throw SecureStorageError(
          .invalidArgument, place, "The passphrase must not be empty.", argument: "passphrase")
      }
      return passphrase
    }
  }

  /// Creates a source from a file that contains nothing but the key.
  ///
  /// If there is no such file, it's created along with the encrypted file. It gets 32 random bytes, and
  /// only its owner can read it. The file must belong to this program's user or to root. A file that others
  /// can read or write is refused.
  ///
  /// Anyone who has both files has the secrets. Keep the key file elsewhere: on another disk, and not in
  /// the same backup.
  ///
  /// - Parameter path: The path of the file. It must have at least 32 bytes, all of which are the key.
  /// - Returns: The source.
  public static func keyFile(at path: String) -> KeySource {
    KeySource(.keyFile) { (purpose, place) throws(SecureStorageError) in
      try KeyFile(path: path, place: place).key(purpose)
    }
  }

  /// Creates a source from a credential that systemd passes to the service.
  ///
  /// The unit of the service declares it with `LoadCredentialEncrypted=NAME`. See
  /// [systemd.exec(5)](https://www.freedesktop.org/software/systemd/man/systemd.exec.html), section
  /// "Credentials". The credential is in the folder `$CREDENTIALS_DIRECTORY`.
  ///
  /// - Parameter name: The name of the credential. It must have at least 32 bytes, all of which are the
  ///   key.
  /// - Returns: The source.
  public static func systemdCredential(_ name: String) -> KeySource {
    KeySource(.systemdCredential) { (_, place) throws(SecureStorageError) in
      try SystemdCredential(name: name, place: place).key()
    }
  }

  /// Creates a source from an item of another storage, such as a keyring.
  ///
  /// If there is no such item, it's created along with the encrypted file. It gets 32 random bytes.
  ///
  /// - Parameters:
  ///   - storage: The other storage. Its errors are thrown unchanged.
  ///   - key: The key of the item, which must have at least 32 bytes.
  /// - Returns: The source.
  public static func storage(_ storage: any SecureStorage, key: ItemKey) -> KeySource {
    KeySource(.storage, storage: storage) { (purpose, place) throws(SecureStorageError) in
      try StoredKey(storage: storage, key: key, place: place).key(purpose)
    }
  }

  /// Returns the passphrase or key of the source.
  func secret(_ purpose: Purpose, _ place: FileLocation) throws(SecureStorageError) -> Secret {
    let secret = try read(purpose, place)
    guard kind == .passphrase || secret.count >= Self.leastByteCount else {
      throw SecureStorageError(
        .invalidArgument, place,
        "The key from \(kind) needs at least \(Self.leastByteCount) bytes.",
        recoverySuggestion: "Create a key of 32 random bytes, or use a passphrase.",
        argument: "key")
    }
    return secret
  }

  /// The smallest number of bytes of a key.
  ///
  /// A shorter key could be guessed, and these sources have no cost that slows down guessing.
  static let leastByteCount = 32

  /// Returns a random key that can't be guessed.
  static func newKey() -> Secret { Secret(bytes: [UInt8].random(leastByteCount)) }
}

extension KeySource: CustomStringConvertible, CustomReflectable {
  /// The kind of the source, without the key.
  public var description: String { "\(kind)" }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
