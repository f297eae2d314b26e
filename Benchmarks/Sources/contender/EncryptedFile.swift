// SPDX-License-Identifier: Apache-2.0

#if Files
import Contending
import Keyring
import KeyringFile
import KeyringStorage

/// The measured encrypted file of passwords of 1 KiB, by default 1,000.
///
/// Its arguments are PATH [COUNT].
struct SampleFile {
  static let passwordBytes = 1_024

  let path: String
  let count: Int

  init(_ arguments: ArraySlice<String>) throws {
    let arguments = Array(arguments)
    let count = arguments.count == 2 ? Int(arguments[1]) : 1_000
    guard let count, 1...2 ~= arguments.count else { throw Failure("PATH [COUNT]") }
    (path, self.count) = (arguments[0], count)
  }

  /// Returns a storage that hasn't opened the file yet.
  func storage() -> EncryptedFileStorage {
    EncryptedFileStorage(at: path, key: .keyFile(at: path + ".key"))
  }

  private static let padding = String(repeating: "x", count: passwordBytes)

  /// Returns a password that begins with a text, and takes few instructions to make.
  static func password(_ text: String) -> String {
    text + Substring(padding.utf8.dropFirst(text.utf8.count))
  }

  static func password(_ number: Int) -> String { password(Sample.password(number)) }

  func fill() throws {
    let storage = storage()
    for number in 0..<count {
      try storage.setPassword(Self.password(number), for: Sample.key(number))
    }
  }
}

/// Reads all passwords one after another, from a file that was read before.
struct FileRead: Work {
  private let storage: EncryptedFileStorage
  private let keys: [ItemKey]
  private var found: [String?] = []

  init(file: SampleFile) {
    storage = file.storage()
    keys = (0..<file.count).map(Sample.key)
  }

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
