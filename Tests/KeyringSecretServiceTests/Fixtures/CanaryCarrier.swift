#if SecretService && os(Linux)
import Foundation
import Glibc
import Keyring

/// A value of a caller's that holds a secret.
protocol CanaryCarrier: Sendable {
  /// Whether it is the memory of the storage's own secret that a caller is given.
  static var isShared: Bool { get }

  static func make(of canary: Canary) -> Self

  /// Overwrites the secret, as a caller cannot do it in an app.
  func wipe()
}

extension CanaryCarrier {
  static var isShared: Bool { false }
}

/// Overwrites bytes in place, although they are only lent for reading: copies are to go as well.
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

  /// Does so itself, once it is released.
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

  /// What is stored, made without the encoder.
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
