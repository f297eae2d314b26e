// SPDX-License-Identifier: Apache-2.0

#if SecretService && Sealing && os(Linux)
internal import KeyringRuntime
public import KeyringSealing
internal import KeyringStorage

extension KeySource {
  /// Creates a source from the [Secret
  /// portal](https://flatpak.github.io/xdg-desktop-portal/docs/doc-org.freedesktop.portal.Secret.html),
  /// through which the desktop gives each sandboxed app a key of its own.
  ///
  /// ```swift
  /// let path = "/home/ada/.var/app/org.example.App/data/secrets"
  /// let storage = EncryptedFileStorage(at: path, key: .secretPortal())
  /// ```
  ///
  /// The key is in the user's keyring, which the user may have to unlock. A snap needs the plug `desktop`.
  ///
  /// - Parameter tokenFile: The path of a file for the token that some portals need to find the key again. It
  ///   isn't a secret. By default it's in the data directory of the app. Without a sandbox there is no default.
  /// - Returns: The source.
  public static func secretPortal(tokenFile: String? = nil) -> KeySource {
    secretPortal(
      tokenFile: tokenFile
        ?? Sandbox.current().dataDirectory.map { $0 + "/swift-keyring/portal-token" },
      options: .init())
  }

  static func secretPortal(
    tokenFile: String?, options: SecretServiceStorage.Options
  ) -> KeySource {
    KeySource(named: "key of the Secret portal") { (request) async throws(SecureStorageError) in
      try await SecretPortal(request: request, tokenFile: tokenFile, options: options).key()
    }.protected(by: .keyring)
  }
}
#endif
