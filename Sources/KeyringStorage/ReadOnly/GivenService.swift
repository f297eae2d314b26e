#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The service whose secrets a program was given by name, and how its keys and these names belong
/// together.
///
/// A name has no room for a service. Without one that is fixed, the passwords of an account "me" at
/// two services would be one and the same, and one service would be sent the other's.
struct GivenService: Sendable {
  let service: String
  let accessGroup: String?

  /// What stands for a key within the service: the account, or a credential's label; `nil` for the
  /// key of another service or access group, or of another kind.
  func name(of key: ItemKey) -> String? {
    let part = key.kind == .credentials ? AttributeName.label : AttributeName.username
    return key.attributes[part].flatMap { self.key($0, key.kind) == key ? $0 : nil }
  }

  /// The key that a name stands for.
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
  /// The item that bytes given to a program are; `nil` when a credential was asked for, and they are
  /// none.
  init?(_ key: ItemKey, given bytes: Secret, modified: Date? = nil) {
    self.init(
      key: key, secret: bytes, label: key.defaultLabel, attributes: [:], created: modified,
      modified: modified, isLocked: false)
    switch key.kind {
    case .password: secret = bytes.withoutLineEnd
    case .credentials:
      guard let credential = bytes.decoded(as: PlaintextCredential.self) else { return nil }
      secret = Secret(credential.password)
      attributes = [AttributeName.username: credential.login]
    default: break
    }
  }
}

extension Secret {
  /// The bytes without the end of line that editors and `echo` put behind a text.
  fileprivate var withoutLineEnd: Secret {
    withUnsafeBytes { bytes in
      guard bytes.last == UInt8(ascii: "\n") else { return self }
      let rest = bytes.dropLast()
      return self[0..<(rest.last == UInt8(ascii: "\r") ? rest.count - 1 : rest.count)]
    }
  }
}
