// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Glibc
import Keyring

/// A caller's value that holds a secret.
protocol CanaryCarrier: Sendable {
  /// Whether a caller gets the memory of the storage's own secret.
  static var isShared: Bool { get }

  static func make(of canary: Canary) -> Self

  /// Overwrites the secret, which a caller in an app can't do.
  func wipe()
}

extension CanaryCarrier {
  static var isShared: Bool { false }
}

/// Overwrites bytes in place, although they are only lent for reading, so that copies go too.
private func wipe(_ bytes: UnsafeRawBufferPointer) {
  if let address = UnsafeMutableRawPointer(mutating: bytes.baseAddress) {
    memset(address, 0, bytes.count)
  }
}

extension String: CanaryCarrier {
  static func make(of canary: Canary) -> String { canary.text }

  func wipe() {
    var text = self
    text.withUTF8 { KeyringSecretServiceTests.wipe(UnsafeRawBufferPointer($0)) }
  }
}

extension [UInt8]: CanaryCarrier {
  static func make(of canary: Canary) -> [UInt8] { canary.bytes }

  func wipe() { withUnsafeBytes { KeyringSecretServiceTests.wipe($0) } }
}

extension Data: CanaryCarrier {
  static func make(of canary: Canary) -> Data { canary.data }

  func wipe() { withUnsafeBytes { KeyringSecretServiceTests.wipe($0) } }
}

extension Secret: CanaryCarrier {
  static var isShared: Bool { true }

  static func make(of canary: Canary) -> Secret {
    let bytes = canary.bytes
    defer { bytes.wipe() }
    return Secret(bytes: bytes)
  }

  /// Does nothing, because a secret overwrites itself when it's released.
  func wipe() {}
}

extension Credential: CanaryCarrier {
  static var isShared: Bool { true }

  static func make(of canary: Canary) -> Credential {
    let text = canary.text
    defer { text.wipe() }
    return Credential(login: "ada", password: text)
  }

  func wipe() {}
}

/// A value that is stored as JSON.
struct Token: Codable, CanaryCarrier {
  let text: String

  static func make(of canary: Canary) -> Token { Token(text: canary.text) }

  func wipe() { text.wipe() }

  /// The value as it's stored, made without the encoder.
  var json: Secret {
    var json = Array("{\"text\":\"".utf8)
    json.reserveCapacity(1000)
    json += text.utf8
    json += Array("\"}".utf8)
    defer { json.wipe() }
    return Secret(bytes: json)
  }
}
#endif
