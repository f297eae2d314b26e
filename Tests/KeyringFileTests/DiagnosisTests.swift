// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile && os(Linux)
import Foundation
import Keyring
import KeyringRuntime
import KeyringSealing
import KeyringStorage
import KeyringTesting
import TestPrograms
import Testing

@testable import KeyringFile

/// Diagnoses of a file, and the selections among storages that depend on them.
@Suite struct DiagnosisTests {
  private let directory = TemporaryDirectory()
  private let storage: EncryptedFileStorage

  init() { storage = directory.storage("deep/secrets") }

  /// A passphrase that nobody may be asked for.
  private static let neverAsking = KeySource.passphrase { _ throws(SecureStorageError) in
    Issue.record("asked")
    return Secret("a passphrase")
  }

  /// Returns the results of the diagnosis, and of a selection that begins with the storage.
  private func failures(
    _ storage: EncryptedFileStorage
  ) -> (diagnosis: SecureStorageError.Code?, selection: SecureStorageError.Code?, index: Int?) {
    var selection: FirstAvailableStorage.Selection?
    var code: SecureStorageError.Code?
    do throws(SecureStorageError) {
      selection = try FirstAvailableStorage([storage, InMemoryStorage()]).selection()
    } catch {
      code = error.code
    }
    return (storage.diagnose().failure?.code, code, selection?.index)
  }

  @Test func `an absent file is no failure, because the first save creates it`() throws {
    let diagnosis = storage.diagnose()
    #expect(diagnosis.failure == nil)
    #expect(diagnosis.findings.map(\.subject) == ["file", "key", "directory"])
    #expect(diagnosis.findings.allSatisfy { $0.text.hasSuffix("which the first save creates") })
    #expect(try directory.names().isEmpty, "the diagnosis made something")
    #expect(failures(storage).index == 0)
  }

  @Test func `a relative path's first directory may be missing, too`() {
    let storage = EncryptedFileStorage(
      at: "missing-\(UUID().uuidString)/secrets", key: .keyFile(at: directory.path("key")))
    #expect(storage.diagnose().failure == nil)
  }

  @Test func `a usable file is described, and written only on request`() throws {
    try storage.setPassword("s3cret", for: .first)
    let before = try directory.bytes("deep/secrets")
    let text = "\(directory.storage("deep/secrets").diagnose())"
    #expect(text.contains("deep/secrets, of user \(geteuid()), mode 600, format 1"))
    #expect(text.contains("a key file, which opens the file"))
    #expect(text.contains("deep, which can be written") && !text.contains("s3cret"))
    #expect(try directory.bytes("deep/secrets") == before)
    let writing = storage.diagnose(writing: true)
    #expect(writing.failure == nil && writing.findings.last?.subject == "writing")
    #expect(try directory.bytes("deep/secrets") != before)
    #expect(try storage.items(matching: ItemQuery()).count == 1)
    #expect(storage.cached().diagnose(writing: true).findings.count == writing.findings.count)
  }

  /// A save replaces only the name that the storage knows.
  @Test func `a file with a second name is a notice`() throws {
    try storage.setPassword("old", for: .first)
    try FileManager.default.linkItem(
      atPath: directory.path("deep/secrets"), toPath: directory.path("backup"))
    let finding = storage.diagnose().findings.first
    #expect(storage.diagnose().failure == nil && finding?.state == .notice)
    #expect(finding?.recoverySuggestion?.contains("It has 2 names") == true, "\(finding as Any)")
    try storage.setPassword("new", for: .first)
    #expect(storage.diagnose().findings.first?.state == .ok)
  }

  @Test func `a file that other users may copy is a notice`() throws {
    try storage.setPassword("s3cret", for: .first)
    try directory.setMode(0o644, of: "deep/secrets")
    #expect(storage.diagnose().failure == nil)
    #expect(storage.diagnose().findings.first?.state == .notice)
  }

  /// Another storage wouldn't have the items of the file.
  @Test func `a wrong key and damage end the selection with an error`() throws {
    try storage.setPassword("s3cret", for: .first)
    let bytes = try directory.bytes("deep/secrets")
    let wrong = directory.storage("deep/secrets", key: .keyFile(at: directory.path("other")))
    try directory.write([UInt8](repeating: 7, count: 32), "other")
    try directory.setMode(0o600, of: "other")
    #expect(failures(wrong) == (.wrongKey, .wrongKey, nil))
    let kind = directory.storage("deep/secrets", key: Self.neverAsking)
    #expect(failures(kind) == (.wrongKey, .wrongKey, nil))
    let missing = directory.storage("deep/secrets", key: .keyFile(at: directory.path("missing")))
    #expect(failures(missing) == (.keyNotFound, .keyNotFound, nil))
    for index in [12, bytes.count - 1] {
      var damaged = bytes
      damaged[index] ^= 1
      try directory.write(damaged, "deep/secrets")
      #expect(failures(directory.storage("deep/secrets")) == (.damaged, .damaged, nil), "\(index)")
    }
    var later = bytes
    later[9] = 2
    try directory.write(later, "deep/secrets")
    #expect(failures(directory.storage("deep/secrets")) == (.undecodable, .undecodable, nil))
  }

  @Test func `a diagnosis does not ask for a passphrase`() throws {
    try directory.storage(key: .cheap("right")).setPassword("s3cret", for: .first)
    let asking = directory.storage(key: Self.neverAsking)
    #expect(asking.diagnose().failure == nil)
    #expect("\(asking.diagnose())".contains("a passphrase; a diagnosis doesn't ask for it"))
    let known = directory.storage(key: .cheap("right"))
    #expect(try known.password(for: .first) == "s3cret")
    #expect("\(known.diagnose())".contains("a passphrase, which opens the file"))
  }

  @Test func `a storage whose key can't be created is skipped if it has no file`() throws {
    try directory.makeDirectory("keys")
    let storage = directory.storage("deep/secrets", key: .keyFile(at: directory.path("keys/key")))
    try directory.withoutPrivileges {
      try directory.setMode(0o500, of: "keys")
      #expect(failures(storage) == (.noStorage, nil, 1))
      try directory.setMode(0o700, of: "keys")
      #expect(failures(storage) == (nil, nil, 0))
    }
  }

  /// Such a directory can't be written to the disk.
  @Test func `a file in a directory that can't be read can't be changed`() throws {
    let storage = directory.storage("deep/secrets", key: .cheap("right"))
    try directory.withoutPrivileges {
      try storage.setPassword("kept", for: .first)
      try directory.setMode(0o300, of: "deep")
      #expect(storage.diagnose().failure?.code == .readOnly)
      try directory.setMode(0o700, of: "deep")
      #expect(storage.diagnose().failure == nil)
    }
  }

  @Test func `the advice fits the cause of a failure`() throws {
    let place = FileLocation(directory.path("secrets"))
    let full = FileFailure("can't be watched", number: ENOSPC)
    #expect(
      SecureStorageError.unwatched(place, full).recoverySuggestion?.contains("max_user_watches")
        == true)
    for (number, kind, advice) in [
      (EBUSY, FileFailure.Kind.system, "Mount its directory"), (EFBIG, .system, "disk space"),
      (EFBIG, .unsuitable, "Use the path of an encrypted file."), (EROFS, .system, "access"),
    ] {
      let failure = FileFailure("can't be replaced", number: number, kind: kind)
      #expect(SecureStorageError(place, failure).recoverySuggestion?.contains(advice) == true)
    }
    for (path, advice) in [("keys/key", "directory"), ("key", "chmod 600")] {
      let key = KeySource.keyFile(at: directory.path(path))
      try directory.write([UInt8](repeating: 7, count: 32), "key")
      try directory.setMode(0o644, of: "key")
      try directory.withoutPrivileges {
        chmod(directory.path, 0o500)
        defer { chmod(directory.path, 0o700) }
        let request = place.keyRequest(.creation)
        let error = expectError(.accessDenied) {
          _ = try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
            try await key.secret(for: request)
          }
        }
        #expect(error?.recoverySuggestion?.contains(advice) == true, "\(path)")
      }
    }
  }

  /// The program may be started by systemd on one machine, and by hand on another.
  @Test func `a storage without its credential is skipped if it has no file`() throws {
    let storage = directory.storage(key: .systemdCredential("no-such-credential"))
    #expect(failures(storage) == (.noStorage, nil, 1))
    // Once there is a file, the selection must not skip it.
    try directory.storage().setPassword("s3cret", for: .first)
    #expect(failures(storage) == (.keyNotFound, .keyNotFound, nil))
  }

  @Test func `the storage of the key is diagnosed too`() throws {
    let other = FaultyStorage()
    let storage = directory.storage(key: .storage(other, key: .second))
    #expect(storage.diagnose().findings.map(\.subject) == ["file", "reading", "key", "directory"])
    other.fail(.read, with: .noSessionBus)
    #expect(failures(storage) == (.noSessionBus, nil, 1))
    other.reset()
    try storage.setPassword("s3cret", for: .first)
    #expect("\(storage.diagnose())".contains("a key in a storage, which opens the file"))
    // Once there is a file, no other storage has its items.
    other.fail(.read, with: .noSessionBus)
    #expect(failures(storage) == (.keyNotFound, .keyNotFound, nil))
    #expect(storage.diagnose().failure?.message.contains("no D-Bus session bus") == true)
    other.reset()
    other.fail(.read, with: .locked)
    #expect(failures(storage) == (.locked, nil, 0))
  }

  @Test func `a file is protected like its key`() throws {
    let path = directory.path("key")
    let keyring = InMemoryStorage()
    let sources: [(KeySource, StorageProtection)] = [
      (.keyFile(at: path), .keyFile),
      (.passphrase(cost: .cheap) { _ in Secret("asked") }, .password),
      (.passphrase(cost: .cheap) { _ in Secret("asked") }.held(for: .seconds(1)), .password),
      (.storage(keyring, key: .second), .memory),
      // These may be in the program itself.
      (.passphrase(Secret("known")), .unknown), (.key(.randomKey()), .unknown),
      (.command(["cat", path]), .unknown),
    ]
    for (number, (source, protection)) in sources.enumerated() {
      let storage = directory.storage("\(number)", key: source)
      #expect(storage.diagnose().protection == protection, "\(source), before the first save")
      try storage.setPassword("s3cret", for: .first)
      #expect(storage.diagnose().protection == protection, "\(source)")
      let later = directory.storage("\(number)", key: source)
      #expect(later.diagnose().protection == protection, "\(source), in a later process")
    }
    #expect(KeySource.typedPassphrase().protection() == .password)
    let wrong = directory.storage("0", key: .passphrase(cost: .cheap) { _ in Secret("asked") })
    #expect(wrong.diagnose().protection == .unknown, "nothing can be stored with that key")
    try keyring.lock()
    #expect(directory.storage("3", key: sources[3].0).diagnose().protection == .unknown)
  }

  /// systemd decrypts it, and doesn't say with what.
  @Test func `a credential of the service says nothing of its protection`() async {
    await #expect(processExitsWith: .success) {
      let directory = TemporaryDirectory()
      try directory.write([UInt8](repeating: 7, count: 32), "key")
      setenv("CREDENTIALS_DIRECTORY", directory.path, 1)
      let diagnosis = directory.storage(key: .systemdCredential("key")).diagnose()
      #expect(diagnosis.failure == nil && diagnosis.protection == .unknown)
    }
  }

  /// A locked keyring that can be unlocked is no failure.
  @Test func `a diagnosis does not unlock the storage of the key`() throws {
    let keyring = InMemoryStorage()
    try keyring[.second, as: .secret].write(.randomKey())
    let asking = FaultyStorage(keyring)
    let key = KeySource.storage(asking, key: .second)
    for isNew in [true, false] {
      if !isNew { try directory.storage(key: key).setPassword("s3cret", for: .first) }
      try keyring.lock()
      asking.forgetCalls()
      let storage = directory.storage(key: key)
      #expect(storage.diagnose().failure == nil)
      let text = "\(storage.diagnose())"
      #expect(
        text.contains("a key in a storage, which is locked; a diagnosis doesn't unlock it"))
      #expect(asking.calls.allSatisfy { $0.query?.allowsUnlocking == false })
      #expect(failures(storage).index == 0)
      try keyring.unlock()
    }
  }

  /// The secrets are in the file, or may be.
  ///
  /// Another storage would begin without them.
  @Test func `a file that cannot be read ends the selection with an error`() throws {
    let storage = directory.storage()
    try storage.setPassword("s3cret", for: .first)
    try directory.withoutPrivileges {
      // The first is a file that can't be read, the second a directory that can't be searched.
      for (name, mode) in [("secrets", 0), ("", 0)] {
        try directory.setMode(mode, of: name)
        #expect(failures(storage) == (.accessDenied, .accessDenied, nil), "\(name) \(mode)")
        try directory.setMode(0o700, of: name)
      }
    }
  }

  @Test func `a file in a directory that cannot be written can be read`() throws {
    let file = directory.storage(key: .storage(InMemoryStorage(), key: .second))
    try directory.withoutPrivileges {
      try file.setPassword("s3cret", for: .first)
      try directory.setMode(0o500, of: "")
      #expect(failures(file) == (.readOnly, nil, 0))
      let storage = FirstAvailableStorage([file, InMemoryStorage()])
      #expect(try storage.password(for: .first) == "s3cret")
      expectError(.accessDenied) { try storage.setPassword("changed", for: .first) }
      try directory.setMode(0o700, of: "")
    }
  }

  @Test func `a storage is skipped if its directory has no file and cannot be written`() throws {
    try directory.withoutPrivileges {
      try directory.setMode(0o500, of: "")
      for name in ["secrets", "deep/secrets"] {
        let storage = EncryptedFileStorage(at: directory.path(name), key: .cheap("right"))
        #expect(storage.diagnose().findings.map(\.subject) == ["file", "key", "directory"])
        #expect(failures(storage) == (.noStorage, nil, 1))
      }
      try directory.setMode(0o700, of: "")
    }
  }
}
#endif
