// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import TestPrograms
import Testing

@testable import KeyringSecretService

/// Programs that refresh the same tokens while they are killed and stopped.
///
/// The tests have no sanitizer, because they look at other processes, and wait for them.
@Suite(.inPrivateSession, .tags(.kills, .unsanitized), .timeLimit(.minutes(20)))
struct RefreshTrialTests {
  private let storage = SecretServiceStorage()

  /// Unlocks the keyring, because the programs don't ask the user.
  init() throws { try storage.unlock() }

  @Test(arguments: [0, 5])
  func `each token is sent once, unless a program dies with the answer`(grace: Int) throws {
    let service = PrivateSession.newService()
    let trial = try RefreshTrial(of: storage, named: "default", service: service, grace: grace)
    let outcome = try trial.run()
    print("\(Provider.current.rawValue), grace time \(grace) s: \(outcome)")
    #expect(outcome.faults.isEmpty)
    #expect(outcome.slowestRecovery < .seconds(20))
    if grace > 0 { #expect(outcome.signOuts == 0) }
    // No name is left on the bus, and no second item in the keyring.
    #expect(try waitUntil { try !namesOnBus().contains { $0.contains(".Turn.") } })
    #expect(try storage.removeItems(matching: .service(service)) == 1)
    #expect(try countStoredItems(["service": service]) == 0)
  }
}
#endif
