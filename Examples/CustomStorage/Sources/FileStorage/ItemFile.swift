// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The JSON file that contains the items.
enum ItemFile {
  private struct Record: Codable {
    var kind: String
    var key: [String: String]
    var schema: String?
    var secret: Data
    var label: String?
    var attributes: [String: String]?
    var created: Date?
    var modified: Date?
  }

  static func read(_ url: URL) throws -> [SecureItem] {
    let data: Data
    do {
      data = try Data(contentsOf: url)
    } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
      // A missing file is empty. A file that can't be read or reached is an error.
      return []
    }
    return try JSONDecoder().decode([Record].self, from: data).map { record in
      SecureItem(
        key: ItemKey(
          kind: ItemKind(rawValue: record.kind), attributes: record.key, schema: record.schema),
        secret: Secret(bytes: record.secret), label: record.label, attributes: record.attributes,
        created: record.created, modified: record.modified, isLocked: false)
    }
  }

  static func write(_ items: [SecureItem], to url: URL) throws {
    let records = items.map { item in
      Record(
        kind: item.key.kind.rawValue, key: item.key.attributes, schema: item.key.schema,
        secret: item.secret?.withUnsafeBytes { Data($0) } ?? Data(), label: item.label,
        attributes: item.attributes, created: item.created, modified: item.modified)
    }
    // The old file is replaced with a new one that only its owner can read. A reader therefore finds either
    // all of the old items or all of the new ones.
    let new = url.appendingPathExtension("new")
    guard
      FileManager.default.createFile(
        atPath: new.path, contents: try JSONEncoder().encode(records),
        attributes: [.posixPermissions: 0o600]),
      rename(new.path, url.path) == 0
    else { throw CocoaError(.fileWriteUnknown) }
  }
}
