// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import Testing

/// Observers of a keyring that dies at any moment, and whose writers do.
///
/// The test has no sanitizer, because it mostly waits for other processes.
@Suite(.inPrivateSession, .timeLimit(.minutes(Kills.count)), .tags(.kills, .unsanitized))
struct ObservationDeathTests {
  @Test func `no observer goes back, misses a change or stays interrupted`() async throws {
    let bus = try PrivateBus()
    let provider = try Provider.current.startMortal(on: bus, savesAtOnce: false)
    let key = ItemKey.password(service: "service", account: "account")
    var exceptions: ObservationHistory.Exceptions = []
    if KnownLimitation.reason(.crashSafety) != nil { exceptions.insert(.lostWrites) }
    if KnownLimitation.reason(.rewrittenItemsAreFound) != nil { exceptions.insert(.missedItems) }
    let trial = try ObservationTrial(of: key, on: bus.storage(), except: exceptions)
    defer { trial.end() }
    try await trial.observe(bus.storage(.never), as: "keyring")
    try await trial.observe(bus.storage(.never).cached(for: nil), as: "cache", readsAlways: true)
    for _ in 0..<Kills.count {
      try trial.kill(
        Program(
          Program.workerPath, ["replace", "default", "service"], environment: bus.environment))
      try await trial.rest()
      try await trial.whileWriting(to: bus.storage()) { try provider.kill() }
      try provider.start()
      try await trial.rest()
    }
  }
}
#endif
