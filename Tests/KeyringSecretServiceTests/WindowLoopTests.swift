// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import AppLibSecret
import Keyring
import KeyringRuntime
import KeyringStorage
import Synchronization
import Testing

/// The main loop of an app with windows, which has to wait for the keyring, or for the user.
@Suite(
  .inPrivateSession, .serialized,
  .only(on: .gnomeKeyring, "the prompts of other keyrings need a screen and a user"))
struct WindowLoopTests {
  /// Runs a closure in a turn of GLib's default main context, and returns what the handler gets.
  private func inWindowLoop(
    _ storage: any SecureStorage, _ use: @escaping () -> Void
  ) -> [SecureStorageError.Code] {
    let reports = Mutex<[SecureStorageError.Code]>([])
    withSecureStorage(
      storage, failureHandler: { report in reports.withLock { $0.append(report.error.code) } }
    ) {
      let body = Unmanaged.passRetained(use as AnyObject)
      g_idle_add(
        { data in
          guard let data else { return 0 }
          (Unmanaged<AnyObject>.fromOpaque(data).takeRetainedValue() as? () -> Void)?()
          return 0
        }, body.toOpaque())
      while g_main_context_iteration(nil, 0) != 0 {}
    }
    return reports.withLock { $0 }
  }

  @Test func `a window that waits for the keyring is reported`() {
    MainLoop.shortestWait.store(0, ordering: .relaxed)
    defer { MainLoop.shortestWait.store(1_000_000, ordering: .relaxed) }
    let token = Password<String?>(PrivateSession.newService())
    let reports = inWindowLoop(SecretServiceStorage()) { _ = token.wrappedValue }
    #expect(reports == [.mainLoopBlocked])
    // Outside of the loop, the same use is that of a tool.
    let other = Password<String?>(PrivateSession.newService())
    let waits = MainLoop.waitCount
    withSecureStorage(SecretServiceStorage()) { _ = other.wrappedValue }
    #expect(MainLoop.waitCount == waits)
  }

  @Test func `a window that waits for the user isn't reported`() throws {
    try PasswordCollection.whileThere(for: .allowed) { collection, storage in
      let key = ItemKey.password(service: PrivateSession.newService(), account: "account")
      try storage.setPassword("s3cret", for: key)
      try storage.lock()
      let prompter = try Prompter(.wait)
      let patient = SecretServiceStorage(
        options: .init(collection: .named(collection.label), promptTimeout: .milliseconds(1500)))
      let token = StoredValue(key: key, as: ItemCoding<String>.text)
      let waits = MainLoop.waitCount
      #expect(inWindowLoop(patient) { _ = token.value }.isEmpty)
      #expect(token.failure?.code == .timedOut && MainLoop.waitCount == waits)
      _ = try prompter.finish()
    }
  }
}
#endif
