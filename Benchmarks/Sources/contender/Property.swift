// SPDX-License-Identifier: Apache-2.0

import Contending
import Keyring

/// Reads a property, which may have no value.
struct PropertyRead: Work {
  private let expected: String?
  @Password private var password: String?
  private var found: String?

  init(isAbsent: Bool = false) {
    expected = isAbsent ? nil : Sample.password(0)
    _password = Password(isAbsent ? "absent" : Sample.account(0))
  }

  mutating func perform() { found = password }

  func check() throws {
    if let failure = $password.failure { throw failure }
    if found != expected { throw Failure("another password was read") }
  }
}

/// Assigns another password to a property.
struct PropertyWrite: Work {
  @Password("write-property") private var password: String?
  private var number = 0

  mutating func prepare() throws {
    if number == 0 { try $password.write("the first") }
    number += 1
  }

  func perform() { password = "the secret \(number)" }

  func check() throws {
    if let failure = $password.failure { throw failure }
    guard try $password.read() == "the secret \(number)" else {
      throw Failure("the password wasn't written")
    }
  }
}

/// Assigns to each of many properties its first value, or `nil`.
///
/// None of them has a value afterwards.
struct PropertiesInTurn: Work {
  enum Change: String { case create, remove }

  private let change: Change
  private let properties: [Password<String?>]
  private var number = 0
  private var checked = 0

  init(_ change: Change, count: Int) throws {
    self.change = change
    properties = (0..<count).map { Password<String?>("\(change.rawValue)-property-\($0)") }
    if change == .remove {
      for property in properties { try property.write("to be removed") }
    }
  }

  mutating func perform() {
    number += 1
    properties[number - 1].wrappedValue = change == .create ? "the secret \(number)" : nil
  }

  mutating func check() throws {
    for (index, property) in properties.enumerated().prefix(number).dropFirst(checked) {
      if let failure = property.failure { throw failure }
      let expected = change == .create ? "the secret \(index + 1)" : nil
      guard try property.read() == expected else {
        throw Failure("the property wasn't changed")
      }
      try property.remove()
    }
    checked = number
  }
}
