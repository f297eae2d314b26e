// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Keyring
import KeyringEtcd
import KeyringStorage
import KeyringTesting
import NIOCore
import NIOPosix
import Testing

@Suite(.serialized) struct EtcdContractTests {
  @Test(arguments: StorageContract.cases(for: EtcdStorage.self))
  func `the cluster keeps the contract`(rule: StorageContract) async throws {
    let storage = try await Cluster.shared.get().newStorage()
    try rule.verify(storage)
  }

  /// The loop would serve nobody else until the reply arrives.
  @Test func `a synchronous call on an event loop is an error`() async throws {
    let storage = try await Cluster.shared.get().newStorage()
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let read = loop.submit {
      #expect(throws: SecureStorageError.self) { try storage.items(matching: ItemQuery()) }
    }
    let error = try await read.get()
    #expect(error?.code == .other && error?.recoverySuggestion == "Use await.")
    #expect(try await storage.items(matching: ItemQuery()).isEmpty)
  }
}
#endif
