// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import StorageModel
import Testing

/// Random operations of two processes on the same items, one of them behind a cache.
///
/// As soon as the keyring has reported a change, the cache gives the same answer as a read of the
/// keyring. The test repeats one thing many times, which would take too long with a sanitizer.
@Suite(.inPrivateSession, .timeLimit(.minutes(2)), .tags(.unsanitized))
struct CachedModelTests {
  @Test(.tags(.slow)) func `the cache agrees with the keyring`() throws {
    print("The seed of the cached model test is \(SeededGenerator.seed).")
    let storage = SecretServiceStorage()
    let cached = storage.cached()
    let service = PrivateSession.newService()
    var random = SeededGenerator(seed: SeededGenerator.seed)
    let other = try Program.worker("serve", service)
    for step in 1...600 {
      let account = "\(Int.random(in: 0..<4, using: &random))"
      let key = ItemKey.password(service: service, account: account)
      let place: Comment = "seed \(SeededGenerator.seed), step \(step), account \(account)"
      switch Int.random(in: 0..<10, using: &random) {
      case ..<2:
        try cached.setPassword("ours \(step)", for: key)
        #expect(try cached.password(for: key) == "ours \(step)", place)
      case ..<3:
        try cached.remove(key)
        #expect(try cached.password(for: key) == nil, place)
      case ..<4:
        try storage.setPassword("beside \(step)", for: key)
        #expect(try cached.password(for: key) == "beside \(step)", place)
      case ..<6:
        // The other process answers when it has written.
        let value = random.oneIn(4) ? "" : "theirs-\(step)"
        try other.writeLine("\(account) \(value)")
        try #require(other.readLine() == "ok", place)
        let written = value.isEmpty ? nil : value
        // The signal of the write may arrive after the answer.
        #expect(try waitUntil { try cached.password(for: key) == written }, place)
      default:
        #expect(try cached.password(for: key) == storage.password(for: key), place)
      }
    }
    #expect(try other.finish().status == 0)
    try cached.removeItems(matching: .service(service))
  }
}
#endif
