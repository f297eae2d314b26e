// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile
import Contending
import Keyring
import KeyringFile
import KeyringStorage

/// The measured encrypted file of 1,000 passwords of 1 KiB.
///
/// Its arguments are PATH KIND-OF-KEY.
struct SampleFile {
  static let count = 1_000
  static let passwordBytes = 1_024

  let path: String
  private let key: KeySource

  init(_ arguments: ArraySlice<String>) throws {
    guard let path = arguments.first, let kind = arguments.last, arguments.count == 2 else {
      throw Failure("PATH KIND-OF-KEY")
    }
    self.path = path
    key = kind == "passphrase" ? .passphrase(Secret("benchmark")) : .keyFile(at: path + ".key")
  }

  /// Returns a storage that hasn't opened the file yet.
  func storage() -> EncryptedFileStorage { EncryptedFileStorage(at: path, key: key) }

  static func password(_ text: String) -> String {
    text + String(repeating: "x", count: passwordBytes - text.utf8.count)
  }

  static func password(_ number: Int) -> String { password(Sample.password(number)) }

  func fill() throws {
    let storage = storage()
    for number in 0..<Self.count {
      try storage.setPassword(Self.password(number), for: Sample.key(number))
    }
  }
}

/// Opens the file, with the first read of a storage.
struct FileOpening: Work {
  let file: SampleFile
  private var found: String?

  init(file: SampleFile) { self.file = file }

  mutating func perform() throws { found = try file.storage().password(for: Sample.key(0)) }

  func check() throws {
    guard found == SampleFile.password(0) else { throw Failure("another password was read") }
  }
}

/// Reads all passwords one after another, from a file that was read before.
struct FileRead: Work {
  private let storage: EncryptedFileStorage
  private let keys = (0..<SampleFile.count).map(Sample.key)
  private var found: [String?] = []

  init(file: SampleFile) { storage = file.storage() }

  var usesPerOperation: Int { keys.count }
  mutating func perform() throws { found = try keys.map { try storage.password(for: $0) } }

  func check() throws {
    guard found == (0..<keys.count).map(SampleFile.password) else {
      throw Failure("the passwords that were read aren't the stored ones")
    }
  }
}

/// Stores a password on the disk in place of another one.
struct FileWrite: Work {
  let file: SampleFile
  private let storage: EncryptedFileStorage
  private let key = Sample.key(0)
  private var password = ""
  private var number = 0

  init(file: SampleFile) {
    self.file = file
    storage = file.storage()
  }

  mutating func prepare() {
    number += 1
    password = SampleFile.password("the secret \(number)")
  }

  func perform() throws { try storage.setPassword(password, for: key) }

  func check() throws {
    guard try file.storage().password(for: key) == password else {
      throw Failure("the password wasn't written")
    }
  }
}
#endif
