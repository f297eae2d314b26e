import FoundationEssentials
import KeyringStorage
import Testing

@Suite struct SecureStorageErrorTests {
  @Test func describesCauseAndNextStep() {
    let error = SecureStorageError(
      .locked, operation: .read, backend: "InMemoryStorage",
      underlying: .init(domain: "domain", code: 7, text: "what it said"))
    #expect(
      error.description == """
        InMemoryStorage: read failed (locked). The keyring is locked. Unlock it in your keyring \
        manager or by logging in, or allow this program to ask. [domain 7: what it said]
        """)
  }

  @Test func isLocalized() {
    let error: any LocalizedError = SecureStorageError(
      .noProvider, operation: .save, backend: "SecretServiceStorage")
    #expect(error.errorDescription?.contains("provides a keyring") == true)
    #expect(error.recoverySuggestion?.contains("gnome-keyring") == true)
  }

  @Test(arguments: SecureStorageError.Code.known)
  func everyCodeHasItsOwnMessageAndAdvice(code: SecureStorageError.Code) {
    let error = SecureStorageError(code, operation: .read, backend: "test")
    let unknown = SecureStorageError(.init(rawValue: "new"), operation: .read, backend: "test")
    #expect(error.message.hasSuffix("."))
    #expect(error.advice.hasSuffix("."))
    #expect(code == .backend || error.message != unknown.message)
    #expect(code == .backend || error.advice != unknown.advice)
  }
}

extension SecureStorageError.Code {
  fileprivate static let known: [Self] = [
    .itemNotFound, .itemAlreadyExists, .locked, .userCanceled, .noSessionBus, .noProvider,
    .providerFailed, .chosenStorageMissing, .noDefaultCollection, .collectionNotFound,
    .collectionAlreadyExists, .accessDenied, .timedOut,
    .canceled,
    .connectionLost, .ambiguous, .invalidArgument, .undecodable, .readOnly, .noStorage,
    .notObservable, .backend,
  ]
}
