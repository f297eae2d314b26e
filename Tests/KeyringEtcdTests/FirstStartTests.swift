// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Keyring
import KeyringStorage
import TestPrograms
import Testing

/// Services that generate their keys when they start for the first time, all at the same moment.
///
/// The tests have no sanitizer, because they look at other processes, and wait for them.
@Suite(.serialized, .tags(.unsanitized)) struct FirstStartTests {
  @Test func `sixteen programs use one key`() async throws {
    let (name, storage) = try await Cluster.shared.get().newWorkerStorage()
    let used = Set(try FirstStarts.run(16, in: name, service: "service"))
    let key = try await storage.password(for: .password(service: "service", account: "key"))
    let account = try await storage[
      .credentials(service: "service", label: "account"), as: .credential
    ].read()
    #expect(used.count == 1)
    #expect(used.first?.hasPrefix("\(key ?? "") \(account?.login ?? "")/") == true)
  }

  @Test func `sixteen programs move an item to another name`() async throws {
    let (name, storage) = try await Cluster.shared.get().newWorkerStorage()
    try await storage.setPassword("s3cret", for: .password(service: "service", account: "old"))
    #expect(Set(try FirstStarts.move(16, in: name, service: "service")) == ["s3cret\n"])
    #expect(
      try await storage.items(matching: .service("service")).map(\.key.account) == ["new"])
  }
}
#endif
