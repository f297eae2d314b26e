// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import AppLibSecret
import Keyring
import KeyringStorage
import Synchronization
import Testing

@testable import KeyringSecretService
@testable import KeyringRuntime

/// The executors of a synchronous operation.
@Suite(.inPrivateSession) struct OneExecutorTests {
  private static var storages: [any SecureStorage] {
    let plain = SecretServiceStorage()
    let none = InMemoryStorage()
    return [
      plain, plain.cached(), LayeredStorage([.reading(none), .writing(plain)]),
    ]
  }

  @Test(arguments: storages)
  func `a synchronous read has one executor, which waits in the loop`(
    storage: any SecureStorage
  ) throws {
    let service = PrivateSession.newService()
    let key = ItemKey.password(service: service, account: "me")
    try storage.setPassword("secret", for: key)
    defer { _ = try? storage.remove(key) }
    let depths = Mutex<[Int]>([])
    var query = ItemQuery.service(service)
    query.onProgress = { _, _ in
      let current = ThreadExecutor.current
      let depth = sequence(first: current, next: { .some($0?.outer) }).prefix { $0 != nil }.count
      depths.withLock { $0.append(current?.events is CallLoop ? depth : 0) }
    }
    #expect(try storage.items(matching: query).count == 1)
    #expect(depths.withLock { Set($0) } == [1])
  }

  /// A storage of an app, whose code may use GLib by itself.
  private struct AppStorage: ImmediateStorage {
    let onRead: @Sendable () -> Void

    func save(_ item: SecureItem, mode: SaveMode) {}
    func items(matching query: ItemQuery) -> [SecureItem] {
      onRead()
      return []
    }
    func removeItems(matching query: ItemQuery) -> Int { 0 }
  }

  @Test func `the code of an app between two waits has its own main context`() throws {
    let hasOwnContext = Mutex<Bool?>(nil)
    let app = AppStorage {
      hasOwnContext.withLock { $0 = g_main_context_get_thread_default() == nil }
    }
    let layers = LayeredStorage([.reading(SecretServiceStorage()), .writing(app)])
    _ = try layers.items(matching: .service(PrivateSession.newService()))
    #expect(hasOwnContext.withLock { $0 } == true)
  }

  @Test func `a loop serves further operations`() throws {
    let storage = SecretServiceStorage()
    let key = ItemKey.password(service: PrivateSession.newService(), account: "me")
    // The first one opens the session, whose service object keeps its loop.
    _ = try storage.password(for: key)
    let loops = try (0..<3).map { _ in
      try CallLoop.runToEnd { () async throws(SecureStorageError) in
        _ = try await storage.password(for: key)
        return ObjectIdentifier(CallLoop.current)
      }
    }
    #expect(Set(loops).count == 1)
  }
}
#endif
