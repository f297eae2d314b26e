// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import TestPrograms
import Testing

/// Programs whose clocks differ.
///
/// The library that changes the clock doesn't work with a sanitizer.
@Suite(.serialized, .timeLimit(.minutes(2)), .tags(.unsanitized)) struct ClockTests {
  private let key = ItemKey.credentials(service: "service", label: "account")

  @Test func `programs with different clocks share their secrets`() async throws {
    let (name, storage) = try await Cluster.shared.get().newWorkerStorage()
    let ahead = try worker("rewrite", name, clock: "+12h")
    #expect(try ahead.readLine() == "found none none")
    #expect(try ahead.readLine() == "saved 1")
    let item = try #require(try await storage.item(for: key, details: .metadata))
    try #require(try #require(item.modified).timeIntervalSinceNow > 11 * 3600)

    let changes = try await storage.changes(matching: .key(key))
    try await storage[key, as: .credential].write(Credential(login: "7", password: "7"))
    #expect(try await storage[key, as: .credential].read()?.login == "7")
    // A new process finds the value that was written last, and not the one with the latest time.
    let next = try worker("rewrite", name, clock: "+12h")
    #expect(try next.readLine() == "found 7 7")
    #expect(try next.readLine() == "saved 8")
    for await _ in changes where try await storage[key, as: .credential].read()?.login == "8" {
      break
    }
  }

  @Test func `a program whose clock is behind doesn't trust the certificate`() async throws {
    let (name, storage) = try await Cluster.shared.get().newWorkerStorage()
    let complaints = Pipe()
    let behind = try worker("rewrite", name, clock: "-12h", complaints: complaints)
    #expect(try behind.finish().status != 0)
    try complaints.fileHandleForWriting.close()
    let text = String(
      decoding: try complaints.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    #expect(text.contains("accessDenied") && text.contains("the clocks of this machine"), "\(text)")
    #expect(try await storage.item(for: key) == nil)
  }

  /// Starts a worker whose clock differs from that of this process.
  private func worker(
    _ command: String, _ storage: String, clock: String, complaints: Pipe? = nil
  ) throws -> Program {
    try Program(
      Program.workerPath, [command, storage, key.attributes["service"] ?? ""],
      environment: FakeClock.environment(clock),
      complaints: complaints?.fileHandleForWriting ?? .standardError)
  }
}
#endif
