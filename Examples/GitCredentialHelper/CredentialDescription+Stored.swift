import Keyring

// How git-credential-libsecret keeps a credential in the secret of an item: the password, and below
// it a line for each other part that git has to have back.
extension CredentialDescription {
  /// Reads what is in the secret of an item: all of it is the password, unless what is below the first
  /// line is git-credential-libsecret's.
  ///
  /// - Parameter secret: The secret.
  init(stored secret: Secret) {
    self.init(password: secret)
    let lines = secret.withUnsafeBytes { bytes in
      bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
    }
    let names = ["password_expiry_utc=", "oauth_refresh_token="]
    guard lines.dropFirst().allSatisfy({ line in names.contains { line.starts(with: $0.utf8) } })
    else { return }
    var description = CredentialDescription(password: Secret(bytes: lines[0]))
    for line in lines.dropFirst() {
      // What git could not be told is no such line.
      do throws(HelperFailure) { try description.read(line) } catch { return }
    }
    self = description
  }

  /// What to put into the secret of an item; `nil` without a password.
  var stored: Secret? {
    guard let password else { return nil }
    let parts = [
      ("", password), ("\npassword_expiry_utc=", passwordExpiry),
      ("\noauth_refresh_token=", refreshToken),
    ]
    var bytes: [UInt8] = []
    for case (let name, let value?) in parts {
      bytes += Array(name.utf8) + value.withUnsafeBytes { Array($0) }
    }
    return Secret(bytes: bytes)
  }

  /// Adds what git did not say, because it had no reason to or does not know such lines (before 2.41),
  /// and what holds all the same.
  ///
  /// - Parameter stored: What is stored so far.
  /// - Returns: The description with more in it.
  func keeping(_ stored: CredentialDescription) -> CredentialDescription {
    var description = self
    description.refreshToken = refreshToken ?? stored.refreshToken
    // The time is the old password's: with it, git would take a new one for expired.
    if password == stored.password {
      description.passwordExpiry = passwordExpiry ?? stored.passwordExpiry
    }
    return description
  }
}
