// SPDX-License-Identifier: Apache-2.0

#if Sealing && os(Linux)
internal import KeyringPlatform
internal import KeyringRuntime
internal import KeyringStorage

extension KeySource {
  /// The location of the key that a credential is encrypted with.
  public enum SystemdCredentialKey: Sendable {
    /// The TPM and a file of the system, or only the file on a machine that has no TPM.
    ///
    /// Without a TPM, the file is readable on a disk that is taken out of the machine.
    case automatic
    /// The security chip of the machine (TPM 2.0).
    ///
    /// The credential can be decrypted only on this machine, which protects a disk that is taken out of it.
    case tpm
    /// The file `/var/lib/systemd/credential.secret`, which only root can read.
    case host
  }

  /// The credentials that systemd-creds works with.
  public enum SystemdCredentialScope: Sendable {
    /// The credentials of the system, for services and for root.
    case system
    /// The credentials of the current user.
    ///
    /// They need systemd 256 or later.
    case user
  }

  /// Creates a source from a file that systemd-creds encrypts, with a TPM 2.0 if the machine has one.
  ///
  /// ```swift
  /// let key = KeySource.systemdCredential(at: "/var/lib/example/key.cred", named: "example")
  /// ```
  ///
  /// The first encryption creates a missing file. Its content is 32 random bytes
  /// that systemd-creds has encrypted.
  ///
  /// The key isn't bound to the state of the firmware (the PCRs of the TPM that it measures itself into),
  /// because an update of the firmware would make all secrets unreadable. It's bound to PCR 16, which is for
  /// debugging and usually unused, and to the PCRs that the system signs. A cleared TPM or a new machine loses the
  /// key. Keep a backup of the secrets.
  ///
  /// Each use starts systemd-creds, which needs access to the TPM or to the file of the system. Usually only
  /// root has that, so a service gets its key with ``systemdCredential(_:)`` instead. See
  /// [systemd-creds(1)](https://www.freedesktop.org/software/systemd/man/latest/systemd-creds.html).
  ///
  /// - Parameters:
  ///   - path: The path of the encrypted file.
  ///   - name: The name of the credential, which is a part of the file.
  ///   - key: The location of the key that a new file is encrypted with.
  ///   - scope: The credentials that the file belongs to.
  /// - Returns: The source.
  public static func systemdCredential(
    at path: String, named name: String = "swift-keyring",
    encryptedWith key: SystemdCredentialKey = .automatic,
    for scope: SystemdCredentialScope = .system
  ) -> KeySource {
    KeySource(.systemdCredential, createsKey: true) { (request) async throws(SecureStorageError) in
      try await SealedCredential(path: path, name: name, place: key, scope: scope, request: request)
        .key()
    }.protected(by: SealedCredential.protection(ofFileAt: path, encryptedWith: key))
  }
}

extension KeySource.SystemdCredentialKey {
  /// The value of the option `--with-key`.
  fileprivate var option: String {
    switch self {
    case .automatic: "auto"
    case .tpm: "tpm2"
    case .host: "host"
    }
  }
}

/// A key file that systemd-creds has encrypted.
private struct SealedCredential {
  let path: String
  let name: String
  let place: KeySource.SystemdCredentialKey
  let scope: KeySource.SystemdCredentialScope
  let request: KeyRequest

  func key() async throws(SecureStorageError) -> Secret {
    // systemd-creds may ask the user, unless root runs it.
    if geteuid() != 0, access(path, F_OK) == 0 { try request.refuseInspection() }
    var file = KeyFile(path: path, request: request, isSecret: false)
    if request.purpose == .creation, access(path, F_OK) != 0 {
      // PCR 16 is for debugging, and the firmware leaves it alone. systemd-creds 252 encrypts without a PCR,
      // too, and then can't decrypt.
      let options = ["--with-key=\(place.option)", "--tpm2-pcrs=16"]
      let content = try await run("encrypt", options, on: .randomKey())
      file.newContent = { content }
    }
    return try await run("decrypt", [], on: file.key())
  }

  /// Returns what protects the key in a file, or in the file that the first encryption creates.
  static func protection(
    ofFileAt path: String, encryptedWith place: KeySource.SystemdCredentialKey
  ) -> StorageProtection {
    if access(path, F_OK) == 0 {
      let text = try? OpenFile.reading(path)?.secret(atMost: KeyFile.largest).text
      return text.flatMap { text in
        starts.first { $0.texts.contains(where: text.hasPrefix) }?.protection
      } ?? .unknown
    }
    return switch place {
    case .automatic: .unknown
    // systemd-creds creates the file with this key, or not at all.
    case .tpm: .hardware
    case .host: .keyFile
    }
  }

  /// The first digits of an encrypted file, which say what decrypts it.
  ///
  /// These are of systemd 252 to 257: of the host, and of a TPM with and without the host. A file that is encrypted with
  /// nothing (`null`) has others.
  private static let starts: [(protection: StorageProtection, texts: [String])] = [
    (.keyFile, ["Whxqht+dQJax1aZeCGLxm", "VbntHThZTUOoMZ0uuzMqx"]),
    (
      .hardware,
      [
        "DHzAexF2RZGcSwvqCLwg/", "+vfrk0HjQSyhpDb5Wik2L", "k6iUCUh0RJCQyvL8k8q1U",
        "r0lQqEkTTrGnOEYwT/MMB", "70rBNnmpSA6n22iJf58WX", "rbxMo++2QgG6iBtvLkCV6",
      ]
    ),
  ]

  private func run(
    _ verb: String, _ options: [String], on input: Secret
  ) async throws(SecureStorageError) -> Secret {
    let words =
      ["systemd-creds", "--name=\(name)"] + (scope == .user ? ["--user"] : []) + options
      + [verb, "-", "-"]
    let end = try await KeyProgram(words: words, input: input, keepsMessages: true).run(
      for: request)
    if end.status == 0 { return end.output }
    let messages = end.messages.split(separator: "\n").joined(separator: " ").excerpt
    throw request.error(
      .keyNotFound, "systemd-creds can't \(verb) the key file \(path): \(messages)",
      recoverySuggestion: verb == "decrypt"
        ? "Decrypt it on the machine and as the user that has encrypted it, or restore the secrets."
        : "Run the program as root, or use another source for the key.",
      underlying: .init(domain: "systemd-creds", code: Int(end.status), text: messages))
  }
}
#endif
