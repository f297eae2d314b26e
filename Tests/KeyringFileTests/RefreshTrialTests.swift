// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile && os(Linux)
import Foundation
import Keyring
import KeyringFile
import KeyringStorage
import TestPrograms
import Testing

/// Programs that refresh the same tokens while they are killed and stopped.
@Suite(.tags(.kills), .timeLimit(.minutes(10))) struct RefreshTrialTests {
  private let directory = TemporaryDirectory()

  private func trial(_ prefix: String = "", grace: Int = 0) throws -> RefreshTrial {
    let path = directory.path("secrets")
    return try RefreshTrial(
      of: EncryptedFileStorage(at: path, key: .keyFile(at: path + ".key")), named: prefix + path,
      grace: grace)
  }

  @Test(arguments: [0, 5])
  func `each token is sent once, unless a program dies with the answer`(grace: Int) throws {
    let outcome = try trial(grace: grace).run()
    print("encrypted file, grace time \(grace) s: \(outcome)")
    #expect(outcome.faults.isEmpty)
    #expect(outcome.slowestRecovery < .seconds(10))
    if grace > 0 { #expect(outcome.signOuts == 0) }
    let left = try directory.names().subtracting(["secrets", "secrets.key", "secrets.lock"])
    #expect(left.isSubset(of: ["secrets.turns"]))
  }

  /// The trial could find nothing.
  @Test func `without turns, a token is sent twice`() throws {
    let outcome = try trial("turnless:").run(20)
    #expect(outcome.faults.contains { $0.hasPrefix("reuse") })
  }
}
#endif
