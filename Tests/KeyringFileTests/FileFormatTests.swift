// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile
import Crypto
import _CryptoExtras
import Foundation
import KeyringStorage
import TestPrograms
import Testing

@testable import KeyringFile

/// Files as the article EncryptedFileFormat describes them, read without the package's own code.
@Suite struct FileFormatTests {
  @Test func `the file has the documented format`() throws {
    let directory = TemporaryDirectory()
    let storage = directory.storage(key: .cheap("pass"))
    try storage.save(
      SecureItem(
        key: .first, secret: Secret("s3cret"), label: "A label", attributes: ["comment": "why"]),
      mode: .add)
    let file = Data(try directory.bytes("secrets"))

    #expect(file[..<8] == Data("KEYRING\n".utf8))
    #expect(Array(file[8..<16]) == [0, 1, 1, 4, 8, 1, 0, 0])
    #expect(file[108..<140] == Data(SHA256.hash(data: file[..<108])))
    let wrappingKey = try KDF.Scrypt.deriveKey(
      from: Data("pass".utf8), salt: file[16..<48], outputByteCount: 32, rounds: 16, blockSize: 8,
      parallelism: 1)
    let dataKey = try AES.GCM.open(
      AES.GCM.SealedBox(combined: file[48..<108]), using: wrappingKey,
      authenticating: file[..<48])
    #expect(dataKey.count == 32)
    let content = try AES.GCM.open(
      AES.GCM.SealedBox(combined: file[140...]), using: SymmetricKey(data: dataKey),
      authenticating: file[..<140])

    var fields = Fields(content)
    #expect(fields.text() == "secrets")
    #expect(fields.integer(8) == 1)
    #expect(fields.integer(4) == 1)
    #expect(fields.integer(8) == 1)
    let created = fields.integer(8)
    #expect(abs(Double(created) / 1e6 - Date().timeIntervalSince1970) < 60)
    #expect(fields.integer(8) == created)
    #expect(fields.text() == "password")
    #expect(fields.attributes() == ["service": "org.example.app", "username": "first"])
    #expect(fields.text() == "A label")
    #expect(fields.attributes() == ["comment": "why"])
    #expect(fields.text() == "s3cret")
    #expect(fields.rest.isEmpty)
  }

  @Test func `a key file leads to the data key as documented`() throws {
    let directory = TemporaryDirectory()
    try directory.storage().setPassword("s3cret", for: .first)
    let file = Data(try directory.bytes("secrets"))
    #expect(Array(file[8..<16]) == [0, 1, 2, 0, 0, 0, 0, 0])
    let wrappingKey = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: try directory.bytes("key")), salt: file[16..<48],
      info: Data("swift-keyring file".utf8), outputByteCount: 32)
    let dataKey = try AES.GCM.open(
      AES.GCM.SealedBox(combined: file[48..<108]), using: wrappingKey,
      authenticating: file[..<48])
    #expect(dataKey.count == 32)
  }

  @Test func `the file shows no secrets, labels or attributes`() throws {
    let directory = TemporaryDirectory()
    let storage = directory.storage()
    try storage.save(
      SecureItem(
        key: .first, secret: Secret("s3cret"), label: "A label", attributes: ["comment": "why"]),
      mode: .add)
    let bytes = Data(try directory.bytes("secrets"))
    for text in ["s3cret", "A label", "comment", "why", "org.example.app", "first", "service"] {
      #expect(bytes.range(of: Data(text.utf8)) == nil, "\(text)")
    }
    #expect(try directory.names() == ["secrets", "secrets.lock", "key"])
  }

  /// No nonce, no salt, and no data key is ever used twice.
  @Test func `every write has its own nonce, and every key its own header`() throws {
    let directory = TemporaryDirectory()
    let storage = directory.storage()
    var nonces: Set<[UInt8]> = []
    var headers: Set<[UInt8]> = []
    for number in 1...20 {
      try storage.setPassword("\(number)", for: .first)
      let file = try directory.bytes("secrets")
      nonces.insert(Array(file[140..<152]))
      headers.insert(Array(file[..<140]))
    }
    #expect(nonces.count == 20)
    #expect(headers.count == 1)
    try storage.changeKey(to: .keyFile(at: directory.path("key")))
    headers.insert(Array(try directory.bytes("secrets")[..<140]))
    #expect(headers.count == 2)
  }
}

/// A reader of fields as the article describes them.
private struct Fields {
  private(set) var rest: Data

  init(_ content: Data) { rest = content }

  mutating func integer(_ count: Int) -> UInt64 {
    let bytes = rest.prefix(count)
    rest = rest.dropFirst(count)
    return bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  mutating func text() -> String {
    let count = Int(integer(4))
    defer { rest = rest.dropFirst(count) }
    return String(decoding: rest.prefix(count), as: UTF8.self)
  }

  mutating func attributes() -> [String: String] {
    Dictionary(uniqueKeysWithValues: (0..<integer(4)).map { _ in (text(), text()) })
  }
}
#endif
