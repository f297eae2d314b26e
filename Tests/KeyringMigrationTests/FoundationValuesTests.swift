// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringMigration
import KeyringStorage
import Testing

/// Values that an app has read with Foundation.
@Suite struct FoundationValuesTests {
  private struct Values: Codable, Sendable, Equatable {
    var yes, no: Bool
    var one, negative: Int
    var large: UInt64
    var half: Double
    var list: [Int?]
    var missing: Int?
  }

  private let values = Values(
    yes: true, no: false, one: 1, negative: -5, large: .max, half: 0.1, list: [1, nil, 0],
    missing: nil)
  private let key = ItemKey.value(service: "service", account: "name")

  private func moved<Value: Codable & Sendable>(
    _ object: sending Any, as type: Value.Type
  ) throws -> (value: Value?, json: String?) {
    let storage = InMemoryStorage()
    nonisolated(unsafe) let object = object
    let source = PlaintextSource.values(read: { _ in object }, remove: { _ in })
    try Migration(of: [.value("name", of: type, as: key)], from: source, to: storage).copy()
    return (try storage[key, as: .value(type)].read(), try storage.secret(for: key)?.text)
  }

  @Test func `numbers, booleans and null of JSON are stored`() throws {
    let json = """
      {"yes": true, "no": false, "one": 1, "negative": -5, "large": 18446744073709551615,
      "half": 0.1, "list": [1, null, 0], "missing": null}
      """
    let moved = try moved(JSONSerialization.jsonObject(with: Data(json.utf8)), as: Values.self)
    #expect(moved.value == values)
    #expect(moved.json?.contains(#""no":false,"one":1,"#) == true)
    for (text, type) in [("1", Int.self as any (Codable & Sendable).Type), ("true", Bool.self)] {
      let object = try JSONSerialization.jsonObject(
        with: Data(text.utf8), options: .fragmentsAllowed)
      #expect(try self.moved(object, as: type).json == text)
    }
    let null = try JSONSerialization.jsonObject(with: Data("null".utf8), options: .fragmentsAllowed)
    #expect(try self.moved(null, as: Int.self).json == nil)
  }

  @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
  func `numbers and booleans of a property list are stored`(
    format: PropertyListSerialization.PropertyListFormat
  ) throws {
    let list: [String: Any] = [
      "yes": true, "no": false, "one": 1, "negative": -5, "large": 7, "half": 0.1, "list": [1, 0],
    ]
    let data = try PropertyListSerialization.data(
      fromPropertyList: list, format: format, options: 0)
    var expected = values
    (expected.large, expected.list) = (7, [1, 0])
    let object = try PropertyListSerialization.propertyList(from: data, format: nil)
    #expect(try moved(object, as: Values.self).value == expected)
  }
}
