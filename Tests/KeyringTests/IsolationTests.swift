import Keyring
import KeyringTesting
import Testing

/// Tests that run at the same time and use the same properties never see each other's items.
@Suite struct IsolationTests {
  /// One value of settings for all cases, as an app has it.
  private static let settings = Settings()

  /// How many times a value was not the case's own, with the first such value.
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
  func casesOfOneTestAreApart(number: Int) async {
    await expectOwnValues("case \(number)")
  }

  @Test(.secureStorage(), arguments: 0..<200)
  func casesOfAnotherTestAreApart(number: Int) async {
    await expectOwnValues("other \(number)")
  }

  @Suite(.secureStorage()) struct UnderTheTraitOfASuite {
    @Test(arguments: 0..<50) func casesAreApart(number: Int) async {
      await IsolationTests().expectOwnValues("suite \(number)")
    }
  }

  /// The trait must have something to keep apart: with one storage for all, cases do meet.
  @Test func casesOnOneStorageMeet() async {
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

  /// Writes a value, and looks in several child tasks whether it stays.
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
