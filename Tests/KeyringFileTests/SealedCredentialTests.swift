// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile && os(Linux)
import Foundation
import KeyringStorage
import KeyringTesting
import TestPrograms
import Testing

@testable import KeyringFile
@testable import KeyringSealing

/// Keys that systemd-creds encrypts with a TPM in software.
@Suite(
  .enabled(if: SoftwareTPM.isInstalled, "needs swtpm and systemd-creds, which CI installs"),
  .serialized)
struct SealedCredentialTests {
  private let directory = TemporaryDirectory()

  /// Runs the worker on a machine with this TPM.
  private func worker(_ arguments: String..., tpm: SoftwareTPM) throws -> String {
    let complaints = Pipe()
    let program = try Program(
      Program.workerPath, arguments, environment: tpm.environment,
      complaints: complaints.fileHandleForWriting)
    let (_, output) = try program.finish()
    return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .newlines)
  }

  private var storage: String { "tpm:" + directory.path("secrets") }

  @Test(.withSoftwareTPM)
  func `a key in a TPM opens the file after a restart, and only on this machine`() throws {
    var tpm = try SoftwareTPM(stateIn: directory.path("tpm"))
    #expect(try worker("set", storage, "service", "s3cret", tpm: tpm).isEmpty)
    let credential = try directory.bytes("secrets.credential")
    try tpm.end()

    tpm = try SoftwareTPM(stateIn: directory.path("tpm"))
    #expect(try worker("get", storage, "service", tpm: tpm) == "s3cret")
    #expect(try worker("set", storage, "service", "new", tpm: tpm).isEmpty)
    #expect(try directory.bytes("secrets.credential") == credential, "the key is made once")
    try tpm.end()

    tpm = try SoftwareTPM(stateIn: directory.path("another machine"))
    let answer = try worker("get", storage, "service", tpm: tpm)
    #expect(
      answer.hasPrefix("error keyNotFound systemd-creds can't decrypt the key file"), "\(answer)")
    try tpm.end()

    tpm = try SoftwareTPM(stateIn: directory.path("tpm"))
    #expect(try worker("get", storage, "service", tpm: tpm) == "new")
    try tpm.end()
  }

  /// The variable that leads to the TPM is set in a process of its own.
  @Test(.withSoftwareTPM) func `a file with a key in a TPM keeps the contract`() async {
    await #expect(processExitsWith: .success) {
      let directory = TemporaryDirectory()
      let tpm = try SoftwareTPM(stateIn: directory.path("tpm"))
      for (name, value) in tpm.environment { setenv(name, value, 1) }
      let key = KeySource.systemdCredential(at: directory.path("key"), encryptedWith: .tpm)
      let storage = directory.storage(key: key)
      // The TPM has no room for the keys of many storages. The test above restarts it.
      let rules = EncryptedFileContractTests.rules.filter { $0.requirement != .restart }
      for rule in rules { try rule.verify(storage) }
      try tpm.end()
    }
  }

  @Test(.withSoftwareTPM) func `only a key that a TPM decrypts is one of the hardware`() async {
    await #expect(processExitsWith: .success) {
      let directory = TemporaryDirectory()
      let tpm = try SoftwareTPM(stateIn: directory.path("tpm"))
      for (name, value) in tpm.environment { setenv(name, value, 1) }
      setenv("SYSTEMD_CREDENTIAL_SECRET", directory.path("host"), 1)
      for (place, protection) in [
        (KeySource.SystemdCredentialKey.tpm, StorageProtection.hardware), (.host, .keyFile),
        // systemd-creds doesn't choose a TPM in software, which firmware knows nothing of.
        (.automatic, .keyFile),
      ] {
        let key = KeySource.systemdCredential(
          at: directory.path("key of \(place)"), encryptedWith: place)
        let storage = directory.storage("secrets of \(place)", key: key)
        let before = place == .automatic ? .unknown : protection
        #expect(storage.diagnose().protection == before)
        try storage.setPassword("s3cret", for: .first)
        #expect(storage.diagnose().protection == protection)
      }
      try tpm.end()
    }
  }

  @Test func `a credential without a key, or of an unknown kind, isn't protected by hardware`()
    throws
  {
    let key = KeySource.systemdCredential(at: directory.path("key"), encryptedWith: .tpm)
    for text in ["BYRp2vb1QySABUnaD46i+yAAAAAB", "", "DHzAexF2RZGcSwvqCLwg+"] {
      try directory.write(Array(text.utf8), "key")
      #expect(key.protection() == .unknown)
    }
  }

  @Test func `a machine without a TPM makes no key`() throws {
    let key = KeySource.systemdCredential(
      at: directory.path("key"), named: "example", encryptedWith: .tpm, for: .system)
    let storage = directory.storage(key: key)
    try #require(access("/dev/tpmrm0", F_OK) != 0, "the machine has a TPM of its own")
    let subjects = storage.diagnose().findings.map(\.text)
    #expect(subjects.contains { $0.contains("which the first save creates") }, "\(subjects)")
    #expect(storage.diagnose().failure == nil, "FirstAvailableStorage would skip it")
    let error = expectError(.keyNotFound) { try storage.setPassword("lost", for: .first) }
    #expect(error?.underlying?.domain == "systemd-creds")
    #expect(error?.underlying?.text.isEmpty == false)
    #expect(try directory.names().isEmpty)
    #expect(try storage.password(for: .first) == nil)
    try directory.write([1, 2, 3], "key")
    // A diagnosis asks nobody. Only for root, systemd-creds asks nobody, either.
    let expected: SecureStorageError.Code? = geteuid() == 0 ? .noStorage : nil
    #expect(storage.diagnose().failure?.code == expected, "nothing can be stored with that key")
    #expect(try code { try storage.setPassword("lost", for: .first) } == .keyNotFound)
    #expect(try directory.bytes("key") == [1, 2, 3])
  }

}
#endif
