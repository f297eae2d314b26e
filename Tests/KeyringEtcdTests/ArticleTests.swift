// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import Testing

@testable import KeyringEtcd

/// The article shows what the storage does.
struct ArticleTests {
  @Test func `the permissions in the article are those of a service`() async throws {
    let article = try String(
      contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Sources/KeyringEtcd/Documentation.docc/FleetFormat.md"),
      encoding: .utf8)
    let command = "etcdctl role grant-permission --prefix 'mail' "
    let lines = article.split(separator: "\n").filter { $0.hasPrefix(command) }.map(String.init)
    let storage = try await Cluster.shared.get().newStorage()
    let permissions = try await storage.permissions(
      for: .password(service: "mail", account: "any"))
    let found = permissions.map { permission in
      let text = permission.description
        .replacing("/\(storage.fleet.settings.namespace)/", with: "/example/")
        .replacing(/\/[0-9a-f]{32,}\/$/, with: "/8f21…/")
      return command + text
    }
    #expect(found == lines)
  }
}
#endif
