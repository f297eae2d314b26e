// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import TestPrograms
import Testing

@testable import KeyringFile

/// Processes that are killed while they rewrite a credential.
@Suite(.tags(.kills)) struct KilledWriterTests {
  @Test func `every reader finds a whole pair, and nothing is lost`() throws {
    let directory = TemporaryDirectory()
    let path = directory.path("secrets")
    let reader = EncryptedFileStorage(at: path, key: .keyFile(at: path + ".key"))
    var saved = 0
    var kills = 0
    var leftovers = 0
    // A few kills may all miss the middle of a write. Hundreds don't.
    while kills < Kills.count || leftovers == 0 && kills < Kills.count * 20 {
      kills += 1
      let writer = try Program.worker("rewrite", path, "service")
      let found = try writer.readLine()
      // It's the last pair acknowledged before the kill, or the one that was being written.
      let pairs = [saved, saved + 1].map { $0 == 0 ? "found none none" : "found \($0) \($0)" }
      try #require(pairs.contains(found), "\(saved) was acknowledged")
      saved = try Kills.number(in: writer.readLine())
      let names = try directory.names()
      try #require(names == ["secrets", "secrets.key", "secrets.lock"], "after the next write")

      try writer.writeLine("go")
      wait(nanoseconds: .random(in: 0..<10_000_000))
      for line in String(decoding: try writer.end(), as: UTF8.self).split(separator: "\n") {
        saved = try Kills.number(in: String(line))
      }
      leftovers += try directory.names().contains(".secrets.new") ? 1 : 0
      let pair = try reader[.credentials(service: "service", label: "account"), as: .credential]
        .read()
      let login = try #require(pair?.login)
      #expect(login == pair?.password)
      #expect(["\(saved)", "\(saved + 1)"].contains(login), "\(saved) was acknowledged")
    }
    print("\(leftovers) of \(kills) kills left an unfinished file; \(saved) were saved")
    #expect(leftovers > 0, "no kill came in the middle of a write")
    #expect(try reader.items(matching: ItemQuery()).count == 1)
  }

  /// Another process writes another item of the file all the time.
  @Test(.timeLimit(.minutes(Kills.count)))
  func `no observer goes back or misses a change when a writer is killed`() async throws {
    let directory = TemporaryDirectory()
    let path = directory.path("secrets")
    func storage() -> EncryptedFileStorage {
      EncryptedFileStorage(at: path, key: .keyFile(at: path + ".key"))
    }
    let key = ItemKey.password(service: "service", account: "account")
    let trial = try ObservationTrial(of: key, on: storage())
    defer { trial.end() }
    try await trial.observe(storage(), as: "file")
    try await trial.observe(storage().cached(), as: "cache", readsAlways: true)
    let neighbor = try Program.worker("replace", path, "another service")
    try neighbor.writeLine("go")
    for _ in 0..<Kills.count {
      try trial.kill(Program.worker("replace", path, "service"))
      try await trial.whileWriting(to: storage()) {}
      try await trial.rest()
    }
    try neighbor.end()
  }

  /// Waits for a time, so that the kill can come at any moment.
  private func wait(nanoseconds: Int) {
    var time = timespec(tv_sec: 0, tv_nsec: nanoseconds)
    nanosleep(&time, nil)
  }
}
#endif
