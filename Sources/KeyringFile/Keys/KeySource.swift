#if EncryptedFile
public import KeyringStorage

/// What an encrypted file is encrypted with, and where that comes from.
///
/// It is asked for when the file is first used, and again when another process has changed it.
public struct KeySource: Sendable {
  /// What the key is for.
  enum Purpose: Sendable {
    /// A file that is there.
    case existing
    /// A file that is about to be made; a key may be made along with it.
    case new
    /// A file that somebody only looks at: nobody is asked and nothing unlocked, which is `.locked`.
    case looking
  }

  typealias Reading = @Sendable (Purpose, FilePlace) throws(SecureStorageError) -> Secret

  let kind: Kind
  /// The cost of making a key of it; `nil` for bytes that nobody could guess.
  let cost: ScryptCost?
  /// The storage that has the key, if one has.
  let storage: (any SecureStorage)?
  private let read: Reading

  init(
    _ kind: Kind, cost: ScryptCost? = nil, storage: (any SecureStorage)? = nil,
    read: @escaping Reading
  ) {
    (self.kind, self.cost, self.storage, self.read) = (kind, cost, storage, read)
  }

  /// A passphrase that is known.
  ///
  /// A key is made of it with scrypt, which takes about a quarter of a second and 128 MiB of memory,
  /// once for each file that a process opens.
  ///
  /// - Parameter passphrase: The passphrase; not empty.
  /// - Returns: The source.
  public static func passphrase(_ passphrase: Secret) -> KeySource {
    self.passphrase { () throws(SecureStorageError) in passphrase }
  }

  /// A passphrase that is asked for when it is needed.
  ///
  /// - Parameter ask: Answers the passphrase, or throws: `.userCanceled` for example. It is called
  ///   on the thread of the operation, by one thread at a time, and once more for each time that it
  ///   was wrong.
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
        throw SecureStorageError(.locked, place, "The passphrase of the file is not known yet.")
      }
      let passphrase = try ask()
      guard passphrase.count > 0 else {
        throw SecureStorageError(
          .invalidArgument, place, "The passphrase must not be empty.", argument: "passphrase")
      }
      return passphrase
    }
  }

  /// A file that holds nothing but the key.
  ///
  /// Where there is none it is made along with the encrypted file, of 32 random bytes, for its owner
  /// only. It has to be of this program's user or root, and one that others can read or write is
  /// refused. Whoever has both files has the secrets, so it belongs elsewhere: on another disk,
  /// and not in the same backup.
  ///
  /// - Parameter path: The path of the file; of at least 32 bytes, all of which are the key.
  /// - Returns: The source.
  public static func keyFile(at path: String) -> KeySource {
    KeySource(.keyFile) { (purpose, place) throws(SecureStorageError) in
      try KeyFile(path: path, place: place).key(purpose)
    }
  }

  /// A credential that systemd hands to the service: `LoadCredentialEncrypted=NAME` in its unit.
  ///
  /// See [systemd.exec(5)](https://www.freedesktop.org/software/systemd/man/systemd.exec.html),
  /// section "Credentials". It is found in the folder `$CREDENTIALS_DIRECTORY`.
  ///
  /// - Parameter name: The name of the credential; of at least 32 bytes, all of which are the key.
  /// - Returns: The source.
  public static func systemdCredential(_ name: String) -> KeySource {
    KeySource(.systemdCredential) { (_, place) throws(SecureStorageError) in
      try SystemdCredential(name: name, place: place).key()
    }
  }

  /// An item of another storage, a keyring for example.
  ///
  /// Where there is none it is made along with the encrypted file, of 32 random bytes.
  ///
  /// - Parameters:
  ///   - storage: The other storage; its errors are thrown as they are.
  ///   - key: The key of the item, which has at least 32 bytes.
  /// - Returns: The source.
  public static func storage(_ storage: any SecureStorage, key: ItemKey) -> KeySource {
    KeySource(.storage, storage: storage) { (purpose, place) throws(SecureStorageError) in
      try StoredKey(storage: storage, key: key, place: place).key(purpose)
    }
  }

  /// What the source has.
  func secret(_ purpose: Purpose, _ place: FilePlace) throws(SecureStorageError) -> Secret {
    let secret = try read(purpose, place)
    guard kind == .passphrase || secret.count >= Self.leastByteCount else {
      throw SecureStorageError(
        .invalidArgument, place,
        "As \(kind), at least \(Self.leastByteCount) bytes are needed.",
        advice: "Make one with 32 random bytes, or use a passphrase instead.", argument: "key")
    }
    return secret
  }

  /// Fewer could be guessed, and these sources have no cost to slow a guesser down.
  static let leastByteCount = 32

  /// A key that nobody could guess.
  static func newKey() -> Secret { Secret(bytes: [UInt8].random(leastByteCount)) }
}

extension KeySource: CustomStringConvertible, CustomReflectable {
  /// What kind of source it is; never the key.
  public var description: String { "\(kind)" }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
