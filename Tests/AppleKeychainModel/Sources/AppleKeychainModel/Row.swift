// SPDX-License-Identifier: Apache-2.0

/// An item as a keychain keeps it.
public struct Row: Sendable {
  /// Its class.
  public let itemClass: ItemClass
  /// The bytes that tell it from all other items; on data protection its persistent references hold it.
  let identifier: [UInt8]
  /// Its attributes by their constants' values.
  public internal(set) var attributes: [String: Value]
  /// Its secret.
  ///
  /// Data protection can have none.
  public internal(set) var data: [UInt8]?
  /// The conditions to read the secret, on data protection.
  var accessControl: AccessControl?
  /// The program that made it: the one that an item in a file trusts.
  let owner: Caller
  /// Indicates that an item in a file trusts every program.
  var trustsAll = false
  /// The team or the hash of the program that wrote an item's secret in a file: its partition list.
  var partition = ""
  /// Indicates that it can't be decoded.
  var isDamaged = false
  /// The number of times that its record in a file was replaced, and the last program that did so.
  var replacements = (count: 0, by: "")

  /// Returns `true` if it has all of these attributes.
  func matches(_ wanted: [String: Value]) -> Bool {
    wanted.allSatisfy { key, value in attributes[key]?.bytes == value.bytes }
  }

  /// Its key, with more attributes or without: no two items of a keychain have the same.
  func key(with more: [String] = []) -> [UInt8] {
    (itemClass.keyAttributes + more).reduce(into: Array(itemClass.rawValue.utf8)) { key, name in
      let bytes = attributes[name]?.bytes ?? []
      key += Value.number(Int64(bytes.count)).bytes + bytes
    }
  }
}
