// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import KeyringEtcd
import KeyringStorage
import Testing

/// Expects that a closure throws an error with a code, and returns the error.
@discardableResult
func expect(
  _ code: SecureStorageError.Code, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () async throws -> Void
) async -> SecureStorageError? {
  let error = await #expect(throws: SecureStorageError.self, sourceLocation: sourceLocation) {
    try await body()
  }
  #expect(error?.code == code, sourceLocation: sourceLocation)
  return error
}

/// Expects that the diagnosis of a storage has a finding with some of these words, and says what to do about it.
func expectFinding(
  _ words: String..., in storage: EtcdStorage, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
  let findings = try await storage.diagnose(writing: false).findings
  #expect(
    findings.contains { finding in
      words.contains(where: finding.text.contains) && finding.recoverySuggestion != nil
    }, "\(findings)", sourceLocation: sourceLocation)
}
#endif
