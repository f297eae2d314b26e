// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage

// git-credential-libsecret keeps a credential in the secret of an item: the first line is the password, and
// each further line is another part that git needs back.
extension CredentialDescription {
  /// Reads the secret of an item.
  ///
  /// The whole secret is the password, unless the text below the first line was written by
  /// git-credential-libsecret.
  ///
  /// - Parameter secret: The secret.
  init(stored secret: Secret) {
    self = secret.withUnsafeBytes { bytes in
      let whole = CredentialDescription(password: secret)
      let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      let names = ["password_expiry_utc=", "oauth_refresh_token="]
      guard lines.dropFirst().allSatisfy({ line in names.contains { line.starts(with: $0.utf8) } })
      else { return whole }
      var description = CredentialDescription(password: Secret(bytes: lines[0]))
      for line in lines.dropFirst() {
        // If a line can't be passed to git, git-credential-libsecret didn't write it.
        do throws(HelperFailure) { try description.read(line) } catch { return whole }
      }
      return description
    }
  }

  /// Reads a stored item, or returns `nil` if it doesn't have all that git needs.
  init?(_ item: SecureItem) {
    guard let secret = item.secret else { return nil }
    self.init(stored: secret)
    username = item.key.attributes["user"]
    if item.key.kind == .gitCredential {
      (credential, password) = (password, nil)
      authenticationType = item.key.attributes["authtype"]
    } else if username == nil {
      return nil
    }
  }

  /// The secret to store in an item, or `nil` if there is no password or other credential.
  var stored: Secret? {
    guard let password = password ?? credential else { return nil }
    let parts = [
      ("", password), ("\npassword_expiry_utc=", passwordExpiry),
      ("\noauth_refresh_token=", refreshToken),
    ]
    return Secret(joining: parts.flatMap { name, value in value.map { [Secret(name), $0] } ?? [] })
  }

  /// Adds stored parts that git didn't mention and that are still valid.
  ///
  /// Git omits parts that it has no reason to mention, and parts that it doesn't know (before 2.41).
  ///
  /// - Parameter stored: The stored description.
  /// - Returns: The description with the added parts.
  func keeping(_ stored: CredentialDescription) -> CredentialDescription {
    var description = self
    description.refreshToken = refreshToken ?? stored.refreshToken
    // The time belongs to the old password. With it, git would consider a new password expired.
    if password == stored.password, credential == stored.credential {
      description.passwordExpiry = passwordExpiry ?? stored.passwordExpiry
    }
    return description
  }
}
