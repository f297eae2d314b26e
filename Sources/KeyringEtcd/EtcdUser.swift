// SPDX-License-Identifier: Apache-2.0

public import KeyringCore

/// A user of an etcd cluster.
///
/// ```swift
/// let user = EtcdUser(name: "mail", password: try Secret.typed(atPrompt: "Password: "))
/// ```
public struct EtcdUser: Sendable {
  let name: String
  let password: Secret

  /// Creates a user.
  ///
  /// - Parameters:
  ///   - name: The name of the user.
  ///   - password: The password of the user, which must be UTF-8.
  public init(name: String, password: Secret) {
    (self.name, self.password) = (name, password)
  }
}
