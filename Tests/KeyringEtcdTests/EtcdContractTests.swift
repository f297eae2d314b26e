#if Etcd && os(Linux)
import Keyring
import KeyringEtcd
import KeyringStorage
import KeyringTesting
import Testing

@Suite(.serialized) struct EtcdContractTests {
  @Test(arguments: StorageContract.cases(for: EtcdStorage.self))
  func `the cluster keeps the contract`(rule: StorageContract) async throws {
    let storage = try await Cluster.shared.get().newStorage()
    try rule.verify(storage)
  }
}
#endif
