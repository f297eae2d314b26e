// SPDX-License-Identifier: Apache-2.0

#if SecretService && Sealing && os(Linux)
public import KeyringSealing
internal import KeyringStorage

extension KeySource {
  /// Creates a source from the Secret portal, which gives each sandboxed app a key of its own.
  ///
  /// The portal is a part of the user's desktop. It creates the key at the app's first request, and keeps it
  /// in the user's keyring. Other sandboxed apps can't get it. If the keyring is locked, the desktop may ask
  /// the user to unlock it, for which the user has five minutes.
  ///
  /// Some keyrings write a new key to disk only after five seconds. If such a keyring ends before, for example
  /// at logout, the app gets another key at its next start, which doesn't open the file.
  ///
  /// A Flatpak needs no permission for this. A snap needs the plug `desktop`. Outside of a sandbox, the desktop
  /// can't tell programs apart.
  ///
  /// See the documentation of the
  /// [Secret portal](https://flatpak.github.io/xdg-desktop-portal/docs/doc-org.freedesktop.portal.Secret.html).
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
    }
  }
}
#endif
