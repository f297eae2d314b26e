#if SecretService && os(Linux)
import Foundation
import Keyring
import Testing

/// A process is killed while it rewrites a credential, and nothing is lost.
@Suite(.inPrivateSession) struct KilledWriterTests {
  @Test func everyReaderFindsAWholePair() throws {
    let service = PrivateSession.newService()
    let storage = SecretServiceStorage()
    // The writers may not ask for it.
    try storage.unlock()
    let kills = Kills.count
    var saved = 0
    var leftTwo = 0
    for _ in 0..<kills {
      let writer = try Program.worker("rewrite", "default", service)
      let found = try writer.readLine()
      // The pair that was acknowledged last before the kill, or the one that was under way.
      let pairs = [saved, saved + 1].map { $0 == 0 ? "found none none" : "found \($0) \($0)" }
      try #require(pairs.contains(found), "\(saved) was acknowledged")
      saved = try number(in: writer.readLine())
      let most = Provider.current.keepsReplacedItems ? 2 : 1
      try #require(countStoredItems(["service": service]) <= most, "after the next write")

      try writer.writeLine("go")
      wait(nanoseconds: .random(in: 0..<20_000_000))
      for line in String(decoding: try writer.end(), as: UTF8.self).split(separator: "\n") {
        saved = try number(in: String(line))
      }
      leftTwo += try countStoredItems(["service": service]) == 2 ? 1 : 0
    }
    print("\(leftTwo) of \(kills) kills left the old item beside the new one; \(saved) were saved")
    #expect(leftTwo > 0, "no kill came in the middle of a write")
    #expect(try storage.removeItems(matching: .service(service)) == 1)
    #expect(try countStoredItems(["service": service]) == 0)
  }

  private func number(in line: String) throws -> Int {
    try #require(Int(line.replacing("saved ", with: "")), "the writer said \"\(line)\"")
  }

  /// The one wait in all tests that is for no event: the moment of the kill is to be any.
  private func wait(nanoseconds: Int) {
    usleep(UInt32(nanoseconds / 1000))
  }
}
#endif
