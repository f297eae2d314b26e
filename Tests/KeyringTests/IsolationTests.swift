// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringTesting
import Testing

/// The isolation of tests that run at the same time and use the same properties.
///
/// Such tests never see each other's items.
@Suite struct IsolationTests {
  /// One value of settings for all cases, like the one in an app.
  private static let settings = Settings()

  /// The number of values that were not the case's own, with the first such value.
  private struct Strangers: Sendable {
    var count = 0
    var first: String?

    mutating func look(at found: String?, insteadOf own: String?) {
      if found == own { return }
      if count == 0 { first = "\(found ?? "nothing") instead of \(own ?? "nothing")" }
      count += 1
    }
  }

  @Test(.secureStorage(), arguments: 0..<200)
  func `the cases of one test are isolated`(number: Int) async {
    await expectOwnValues("case \(number)")
  }

  @Test(.secureStorage(), arguments: 0..<200)
  func `the cases of another test are isolated too`(number: Int) async {
    await expectOwnValues("other \(number)")
  }

  @Suite(.secureStorage()) struct UnderTheTraitOfASuite {
    @Test(arguments: 0..<50)
    func `the cases of a suite with the trait are isolated`(number: Int) async {
      await IsolationTests().expectOwnValues("suite \(number)")
    }
  }

  /// Shows that the trait has something to keep apart.
  @Test func `cases that share one storage see each other`() async {
    let count = await withSecureStorage(InMemoryStorage()) {
      await withTaskGroup(of: Int.self) { group in
        for number in 0..<8 { group.addTask { await strangers(to: "task \(number)").count } }
        return await group.reduce(0, +)
      }
    }
    #expect(count > 0)
  }

  private func expectOwnValues(_ name: String) async {
    let strangers = await strangers(to: name)
    #expect(strangers.count == 0, "found \(strangers.first ?? "nothing")")
  }

  /// Writes a value, and checks in several child tasks whether it stays.
  private func strangers(to name: String) async -> Strangers {
    let settings = Self.settings
    var strangers = Strangers()
    strangers.look(at: settings.authToken, insteadOf: nil)
    settings.authToken = name
    strangers.look(at: settings.authToken, insteadOf: name)
    let ofTheChildren = await withTaskGroup(of: Strangers.self) { group in
      for _ in 0..<4 {
        group.addTask {
          var strangers = Strangers()
          for round in 0..<5 {
            await Task.yield()
            strangers.look(at: settings.authToken, insteadOf: name)
            settings.authToken = name
            let found = try? await settings.$authToken.read()
            strangers.look(at: found, insteadOf: name)
            settings.account = Credential(login: name, password: "\(round)")
            await Task.yield()
            strangers.look(at: settings.account?.login, insteadOf: name)
          }
          return strangers
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    for child in ofTheChildren where child.count > 0 {
      strangers.count += child.count
      strangers.first = strangers.first ?? child.first
    }
    return strangers
  }
}
