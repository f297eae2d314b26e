// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringRuntime
import KeyringStorage
import Testing

/// A process that is killed while it rewrites a credential.
///
/// The test has no sanitizer, because it looks at another process, and waits for it.
@Suite(.inPrivateSession, .tags(.kills, .unsanitized)) struct KilledWriterTests {
  @Test func `every reader finds a whole pair after a kill`() throws {
    let service = PrivateSession.newService()
    let storage = SecretServiceStorage()
    // The writers may not ask for an unlock.
    try storage.unlock()
    var saved = 0
    var kills = 0
    var leftTwo = 0
    // A few kills may all miss the middle of a write. Hundreds don't.
    while kills < Kills.count || leftTwo == 0 && kills < Kills.count * 20 {
      kills += 1
      let writer = try Program.worker("rewrite", "default", service)
      let found = try writer.readLine()
      // The worker finds the last pair acknowledged before the kill, or the one that was under way.
      let pairs = [saved, saved + 1].map { $0 == 0 ? "found none none" : "found \($0) \($0)" }
      try #require(pairs.contains(found), "\(saved) was acknowledged")
      let start = ContinuousClock.now
      saved = try Kills.number(in: writer.readLine())
      let duration = ContinuousClock.now - start
      let most = Provider.current.keepsReplacedItems ? 3 : 1
      try #require(countStoredItems(["service": service]) <= most, "after the next write")

      try writer.writeLine("go")
      // The kill comes at any moment of the next write, or of the one after it.
      wait(max(duration * 2, .milliseconds(20)) * Double.random(in: 0..<1))
      for line in String(decoding: try writer.end(), as: UTF8.self).split(separator: "\n") {
        saved = try Kills.number(in: String(line))
      }
      leftTwo += try countStoredItems(["service": service]) == 2 ? 1 : 0
    }
    print("\(leftTwo) of \(kills) kills left the old item beside the new one; \(saved) were saved")
    #expect(leftTwo > 0, "no kill came in the middle of a write")
    #expect(try storage.removeItems(matching: .service(service)) == 1)
    #expect(try countStoredItems(["service": service]) == 0)
  }

  /// The killed writer can't say that it has changed the item, and neither does the keyring.
  @Test(.only(on: .gnomeKeyring, "only gnome-keyring sends no signal for a new secret"))
  func `no cache of another process is old after a kill`() throws {
    let service = PrivateSession.newService()
    let storage = SecretServiceStorage()
    try storage.unlock()
    let readers = try (0..<4).map { _ in try Program.worker("read-cached", "default", service) }
    var (kills, taken, old) = (0, 0, 0)
    // A few kills may all miss the moment after the keyring has taken the secret. Hundreds don't.
    while kills < Kills.count || taken * 10 < Kills.count && kills < Kills.count * 20 {
      kills += 1
      let writer = try Program.worker("replace", "default", service)
      _ = try writer.readLine()
      let start = ContinuousClock.now
      var saved = try Kills.number(in: writer.readLine())
      let duration = ContinuousClock.now - start
      try writer.writeLine("go")
      wait(max(duration * 2, .milliseconds(5)) * Double.random(in: 0..<1))
      let output = try writer.end()
      let end = ContinuousClock.now + .seconds(2)
      for line in String(decoding: output, as: UTF8.self).split(separator: "\n") {
        saved = try Kills.number(in: String(line))
      }
      // This process starts later than the bus and the keyring have handled the writer's messages.
      let last = try Program.worker("get", "default", service).finish().output
      let current = String(decoding: last, as: UTF8.self)
      if current == "\(saved + 1)\n" { taken += 1 }
      var others: [String] = []
      repeat {
        others = try readers.map { reader in
          try reader.writeLine("")
          return try reader.readLine() + "\n"
        }.filter { $0 != current }
      } while !others.isEmpty && ContinuousClock.now < end
      old += others.count
    }
    print("\(taken) of \(kills) kills came after the keyring took it; \(old) caches were old")
    #expect(old == 0)
    #expect(taken * 10 >= Kills.count, "too few kills came in the middle of a write")
    try storage.removeItems(matching: .service(service))
  }

  /// Waits for a given time, so that the kill comes at an arbitrary moment.
  private func wait(_ duration: Duration) {
    usleep(UInt32(duration / .microseconds(1)))
  }
}
#endif
