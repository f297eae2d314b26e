// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile
import Foundation
import KeyringSealing
import KeyringStorage
import TestPrograms
import Testing

@testable import KeyringFile

/// Files that have changed since they were written.
///
/// Damage causes another error than a wrong passphrase, and the file stays as it is.
@Suite struct DamageTests {
  private let directory = TemporaryDirectory()
  private let whole: [UInt8]

  init() throws {
    try directory.storage(key: .cheap("right"))
      .setPassword("s3cret", for: .first)
    whole = try directory.bytes("secrets")
  }

  private func storage(_ passphrase: String = "right") -> EncryptedFileStorage {
    directory.storage(key: .cheap(passphrase))
  }

  private func expectDamage(_ bytes: [UInt8], _ what: String) throws {
    try directory.write(bytes, "secrets")
    let codes: Set<SecureStorageError.Code?> = [.damaged, .undecodable]
    #expect(try codes.contains(code { _ = try storage().password(for: .first) }), "\(what), read")
    #expect(
      try codes.contains(code { try storage().setPassword("lost", for: .first) }), "\(what), saved")
    #expect(try codes.contains(code { try storage().remove(.first) }), "\(what), removed")
    #expect(try codes.contains(code { try storage().changeKey(to: .cheap("new")) }), "\(what)")
    #expect(try directory.bytes("secrets") == bytes, "\(what), the file was changed")
  }

  @Test func `a change of any bit is an error`() throws {
    for index in whole.indices {
      for bit in 0..<8 {
        var bytes = whole
        bytes[index] ^= 1 << bit
        try expectDamage(bytes, "bit \(bit) of byte \(index)")
      }
      // The content can be checked only with the key, but the header without it.
      let told = try code { _ = try storage("wrong").password(for: .first) }
      #expect((told == .wrongKey) == (index >= FileHeader.byteCount), "byte \(index): \(told)")
    }
  }

  @Test func `a file that is too short or too long is an error`() throws {
    for count in whole.indices { try expectDamage(Array(whole.prefix(count)), "\(count) bytes") }
    try expectDamage(whole + [0], "an additional byte")
  }

  @Test func `an open storage notices damage, and its repair`() throws {
    let storage = storage()
    #expect(try storage.password(for: .first) == "s3cret")
    var bytes = whole
    bytes[whole.count - 1] ^= 1
    try directory.write(bytes, "secrets")
    #expect(try code { _ = try storage.password(for: .first) } == .damaged)
    try directory.write(whole, "secrets")
    #expect(try storage.password(for: .first) == "s3cret")
  }

  /// It's the same file as before.
  @Test func `an open storage notices a byte that changes in place`() throws {
    let storage = storage()
    #expect(try storage.password(for: .first) == "s3cret")
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: directory.path("secrets")))
    try file.seek(toOffset: UInt64(whole.count - 1))
    try file.write(contentsOf: [whole[whole.count - 1] ^ 1])
    try file.close()
    #expect(try code { _ = try storage.password(for: .first) } == .damaged)
  }

  @Test func `an old header before content with a new key is an error`() throws {
    try storage().changeKey(to: .cheap("right"))
    let other = try directory.bytes("secrets")
    try expectDamage(Array(whole.prefix(140) + other.dropFirst(140)), "an old header")
  }

  @Test func `another file with the same passphrase is refused`() throws {
    let other = directory.storage("other", key: .cheap("right"))
    try other.setPassword("another's", for: .first)
    let bytes = try directory.bytes("other")
    try directory.write(whole, "other")
    try expectDamage(bytes, "another file")
    #expect(try code { _ = try other.password(for: .first) } == .damaged)
    try directory.write(bytes, "other")
    #expect(try other.password(for: .first) == "another's")
  }

  /// A file can't tell that there is a newer one, as the documentation says.
  @Test func `an older version of the file is accepted`() throws {
    try storage().setPassword("newer", for: .first)
    try directory.write(whole, "secrets")
    #expect(try storage().password(for: .first) == "s3cret")
  }

  @Test func `a key that costs too much or nothing is refused`() throws {
    for cost in [(19, 8, 1), (18, 9, 1), (17, 8, 5), (64, 1, 1), (0, 8, 1), (17, 0, 1), (17, 8, 0)]
      as [(UInt8, UInt8, UInt8)]
    {
      var header = whole
      (header[11], header[12], header[13]) = cost
      #expect(WrappedKey(header[10..<108]) == nil, "\(cost)")
    }
    #expect(ScryptCost.standard.isAcceptable)
    #expect(ScryptCost(logarithm: 18, blockSize: 8, parallelism: 4).isAcceptable)
  }
}
#endif
