// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringEtcd
import KeyringStorage
import Testing

/// A storage whose cluster can't be reached.
@Suite struct EtcdTests {
  private let storage = EtcdStorage(
    endpoints: ["http://127.0.0.1:1"], namespace: "example",
    key: .key(Secret(bytes: [UInt8](repeating: 7, count: 32))),
    user: EtcdUser(name: "mail", password: Secret("s3cret")), timeout: .milliseconds(100))
  private let key = ItemKey.password(service: "mail", account: "account")

  private func expectError(
    _ operation: SecureStorageError.Operation, _ code: SecureStorageError.Code = .noProvider,
    _ body: () async throws -> Void
  ) async {
    let error = await #expect(throws: SecureStorageError.self) { try await body() }
    #expect(error?.code == code)
    #expect(error?.operation == operation)
  }

  @Test func `a storage has a limit, and shows its namespace`() {
    #expect(storage.secretByteLimit == 1 << 20)
    #expect(storage.durability == .afterKill)
    #expect(storage.description == "EtcdStorage(example)")
    #expect(storage.customMirror.children.isEmpty)
  }

  @Test func `operations need the cluster`() async {
    let item = SecureItem(key: key, secret: Secret("s3cret"))
    await expectError(.save) { try await storage.saveWithoutBlocking(item, mode: .add) }
    await expectError(.read) {
      _ = try await storage.itemsWithoutBlocking(for: [key], details: .secret)
    }
    await expectError(.read) { _ = try await storage.itemsWithoutBlocking(matching: ItemQuery()) }
    await expectError(.remove) {
      _ = try await storage.removeItemsWithoutBlocking(matching: .key(key))
    }
    await expectError(.observe) { _ = try await storage.observeWithoutBlocking(nil) { _ in } }
  }

  @Test func `a diagnosis says that no node can be reached`() {
    #expect(storage.diagnose(writing: true).failure?.code == .noProvider)
  }

  @Test func `administration needs the cluster`() async {
    await expectError(.initialize) { try await storage.createNamespace() }
    await expectError(.rewrapKeys) { try await storage.rewrapKeys(with: .keyFile(at: "key")) }
    await expectError(.rotateDataKey) { try await storage.rotateDataKey() }
    await expectError(.read) {
      for permission in try await storage.permissions(for: key) {
        print(permission.prefix, permission.isWritable, permission.description)
      }
    }
  }

  @Test(arguments: [
    EtcdTLS(authorities: "absent.pem"),
    EtcdTLS(authorities: "absent.pem", certificate: "absent.pem", privateKey: "absent.key"),
  ])
  func `files that aren't there are refused`(tls: EtcdTLS) async {
    let storage = EtcdStorage(
      endpoints: ["https://127.0.0.1:1"], namespace: "example", key: .keyFile(at: "key"), tls: tls)
    await expectError(.read, .invalidArgument) { _ = try await storage.password(for: key) }
  }
}
