// SPDX-License-Identifier: Apache-2.0

import Contending
import Keyring
import KeyringStorage

/// A change that each of many accounts goes through once.
///
/// None of them has an item afterwards.
enum ChangeInTurn: String {
  case create, remove

  func accounts(_ count: Int, of contender: String) -> [String] {
    (0..<count).map { "\(rawValue)-\(contender)-\($0)" }
  }
}

/// Assigns to each of many properties its first value, or `nil`.
struct PropertiesInTurn: Work {
  private let change: ChangeInTurn
  private let properties: [Password<String?>]
  private var number = 0
  private var checked = 0

  init(_ change: ChangeInTurn, count: Int) throws {
    self.change = change
    properties = change.accounts(count, of: "property").map { Password<String?>($0) }
    if change == .remove {
      for property in properties { try property.projectedValue.write("to be removed") }
    }
  }

  mutating func perform() {
    number += 1
    properties[number - 1].wrappedValue = change == .create ? "the secret \(number)" : nil
  }

  mutating func check() throws {
    for (index, property) in properties.enumerated().prefix(number).dropFirst(checked) {
      if let failure = property.projectedValue.failure { throw failure }
      let expected = change == .create ? "the secret \(index + 1)" : nil
      guard try property.projectedValue.read() == expected else {
        throw Failure("the property wasn't changed")
      }
      try property.projectedValue.remove()
    }
    checked = number
  }
}

/// Stores each of many items as a new one, or removes it.
struct ItemsInTurn: Work {
  private let change: ChangeInTurn
  private let storage = Sample.storage()
  private let keys: [ItemKey]
  private var number = 0
  private var checked = 0

  init(_ change: ChangeInTurn, count: Int) throws {
    self.change = change
    keys = change.accounts(count, of: "storage").map {
      .password(service: Sample.service, account: $0)
    }
    if change == .remove {
      for key in keys { try storage.setPassword("to be removed", for: key) }
    }
  }

  mutating func perform() throws {
    number += 1
    let key = keys[number - 1]
    if change == .create {
      try storage.setPassword("the secret \(number)", for: key)
    } else if try !storage.remove(key) {
      throw Failure("the item wasn't there")
    }
  }

  mutating func check() throws {
    for (index, key) in keys.enumerated().prefix(number).dropFirst(checked) {
      let expected = change == .create ? "the secret \(index + 1)" : nil
      guard try storage.password(for: key) == expected else {
        throw Failure("the item wasn't changed")
      }
      try storage.remove(key)
    }
    checked = number
  }
}
