// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform
internal import KeyringStorage

/// The mapping between a program's keys and the names of the secrets that it was given.
///
/// All names belong to one service, as a name has no room for it. Without a fixed service, the passwords of an account
/// "me" at two services would be the same, and one service would be sent the password of the other.
struct ServiceKeyMapping: Sendable {
  let service: String
  let accessGroup: String?

  /// Returns the name that stands for a key: the account, or the label of a credential.
  ///
  /// It's `nil` for a key of another service, another access group or another kind.
  func name(of key: ItemKey) -> String? {
    let part = key.kind == .credentials ? AttributeName.label : AttributeName.username
    return key.attributes[part].flatMap { self.key($0, key.kind) == key ? $0 : nil }
  }

  /// Returns the key that a name stands for.
  func key(_ name: String, _ kind: ItemKind) -> ItemKey? {
    switch kind {
    case .password: .password(service: service, account: name, accessGroup: accessGroup)
    case .value: .value(service: service, account: name, accessGroup: accessGroup)
    case .credentials where accessGroup == nil: .credentials(service: service, label: name)
    default: nil
    }
  }
}

extension SecureItem {
  /// Creates the item of a key from the bytes that a program was given.
  ///
  /// The initializer returns `nil` if the key is that of a credential and the bytes aren't one.
  init?(_ key: ItemKey, given bytes: Secret, modified: Date? = nil) {
    self.init(
      key: key, secret: bytes, label: key.defaultLabel, attributes: [:], created: modified,
      modified: modified, isLocked: false)
    switch key.kind {
    case .password: secret = bytes.withoutLineEnd
    case .credentials:
      guard ItemCoding.credential.parse(.json(bytes), &self) else { return nil }
    default: break
    }
  }
}

extension Secret {
  /// The bytes without the line break that editors and `echo` add at the end of a text.
  fileprivate var withoutLineEnd: Secret {
    unsafe withUnsafeBytes { bytes in
      guard unsafe bytes.last == UInt8(ascii: "\n") else { return self }
      let rest = unsafe bytes.dropLast()
      return unsafe self[0..<(rest.last == UInt8(ascii: "\r") ? rest.count - 1 : rest.count)]
    }
  }
}
