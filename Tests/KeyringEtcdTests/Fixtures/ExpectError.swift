// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import KeyringStorage
import TestPrograms
import Testing

@testable import KeyringEtcd

/// Expects that a closure throws an error with a code, and returns the error.
///
/// The default bound is that of `Cluster.storage`.
@discardableResult
func expect<Result>(
  _ code: SecureStorageError.Code, within bound: Duration = .seconds(20),
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Result
) async -> SecureStorageError? {
  await expecting(within: bound, sourceLocation: sourceLocation) {
    await expectError(code, sourceLocation: sourceLocation, body)
  }
}

/// Runs a closure, and expects that it ends within a bound.
///
/// The bound is the one that the documentation promises. A slow machine has a few seconds more.
@discardableResult
func expecting<Result>(
  within bound: Duration, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () async throws -> Result
) async rethrows -> Result {
  let start = ContinuousClock.now
  defer {
    let time = ContinuousClock.now - start
    #expect(time < bound + .seconds(6), sourceLocation: sourceLocation)
  }
  return try await body()
}

extension Duration {
  /// The bound of what the first answer of a node shows.
  ///
  /// A node has one second for its answer.
  static var atOnce: Duration { .seconds(1) }
}

/// Expects that the diagnosis of a storage has a finding with some of these words, and says what to do about it.
///
/// - Parameters:
///   - words: The words.
///   - storage: The storage.
///   - attempts: The number of diagnoses of which one must have the finding.
///   - sourceLocation: The place of the call.
/// - Throws: The error of the diagnosis.
func expectFinding(
  _ words: String..., in storage: EtcdStorage, attempts: Int = 1,
  sourceLocation: SourceLocation = #_sourceLocation
) async throws {
  var findings: [StorageDiagnosis.Finding] = []
  for _ in 0..<attempts {
    findings = try await storage.diagnose(writing: false).findings
    let isFound = findings.contains { finding in
      words.contains(where: finding.text.contains) && finding.recoverySuggestion != nil
    }
    if isFound { return }
  }
  Issue.record("no \(words) in \(findings)", sourceLocation: sourceLocation)
}
#endif
