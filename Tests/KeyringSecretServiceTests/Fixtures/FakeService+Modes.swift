// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Testing

extension FakeService {
  /// A behavior of a real provider that the provider has from the first message on.
  struct Mode: Hashable, CustomStringConvertible, CustomTestStringConvertible {
    /// The mode as `fake-service.py` knows it.
    let description: String
    var testDescription: String { description }

    private init(_ description: String) { self.description = description }

    /// `SetSecret`, `Label` and `Attributes` change only memory, unlike `CreateItem` and `Delete` (oo7).
    static let memory = Mode("memory")
    /// `Delete` removes from the disk each item whose attributes contain those of the item in memory (oo7).
    static let sweeping = Mode("sweeping")
    /// A creation replaces only items with exactly the same attributes (oo7).
    ///
    /// Otherwise, it replaces an item that has at least these attributes, as gnome-keyring 42.1 does.
    static let exact = Mode("exact")
    /// A creation replaces all items that have at least these attributes (oo7 until August 2026).
    static let containing = Mode("containing")
    /// A replacement is a removal and a creation under a new path, and a search in between finds nothing (oo7).
    ///
    /// Questions that come within 20 ms are answered in between, up to the first search. Changes wait.
    static let gap = Mode("gap")
    /// Each item has the attribute `xdg:content-type` (oo7).
    static let contentType = Mode("content-type")
    /// Secrets of uncommon content types are refused (oo7).
    static let types = Mode("types")
    /// For that many milliseconds after a start, `OpenSession` isn't answered, and there are no collections (oo7).
    static func sleepy(milliseconds: Int) -> Mode { Mode("sleepy=\(milliseconds)") }
    /// The same for that many messages.
    static func sleepyCalls(_ count: Int) -> Mode { Mode("sleepy-calls=\(count)") }
    /// No alias has an object, and `ReadAlias` knows it (oo7 for the alias "session").
    static let noAliases = Mode("no-aliases")
    /// A locked item isn't found, and shows no property but its lock (oo7).
    static let hiding = Mode("hiding")
    /// A prompt asks the user before anything is unlocked, or created or removed while it's locked (oo7).
    ///
    /// The prompt is accepted, unless another mode says something else.
    static let prompting = Mode("prompting")
    /// `Prompt` answers after the user, and a number of prompts never end (oo7 in a terminal, after a wrong password).
    static func promptSilent(_ count: Int) -> Mode { Mode("prompt-silent=\(count)") }
    /// `Prompt` takes a second and must not be repeated, and the user answers three seconds later.
    static let promptSlow = Mode("prompt-slow")
    /// Items have other paths after a restart (oo7).
    static let renumbering = Mode("renumbering")
    /// The label of a new collection begins with a capital; one with "/" is lost at the restart (oo7).
    static let capitals = Mode("capitals")
    /// There is a collection that ends with the provider, and that only `ReadAlias` knows as "session" (oo7).
    static let session = Mode("session")
    /// Locking and unlocking send `ItemChanged` for each item (gnome-keyring 42.1, oo7).
    static let restless = Mode("restless")
    /// A replaced item keeps its label (KWallet 5.103 to 6.30).
    static let labelKept = Mode("label-kept")
    /// The disk is written that many milliseconds after the last change (KWallet 5.103, KeePassXC 2.7.4).
    static func late(milliseconds: Int) -> Mode { Mode("late=\(milliseconds)") }

    /// The collections are locked at the start (KWallet 5.103).
    static let locked = Mode("locked")
    /// Sessions are encrypted, and not plain.
    static let encrypted = Mode("encrypted")
    /// The provider misbehaves as a random generator with this seed tells it to, until ``FakeService/makeHonest()``.
    static func hostile(seed: UInt64) -> Mode { Mode("hostile=\(seed)") }
    /// There are methods that take the password of a collection, which is "right" (gnome-keyring 42.1, oo7).
    ///
    /// A wrong one has the error that oo7 has for every failure.
    static let passwords = Mode("passwords")

    /// The behaviors of oo7's daemon.
    static let oo7: [Mode] =
      [.sleepy(milliseconds: 60), .memory, .sweeping, .exact, .gap, .contentType, .types, .hiding]
      + [.prompting, .renumbering, .capitals, .session, .restless]
  }

  /// The file that a provider writes, which a test reads.
  final class Disk {
    /// An item on the disk.
    struct Item: Codable, Equatable {
      let path: String
      let label: String
      let attributes: [String: String]
      let secret: Data

      var text: String { String(decoding: secret, as: UTF8.self) }
    }

    private struct Content: Decodable {
      let items: [Item]
    }

    let path = "/tmp/swift-keyring-\(UUID().uuidString)"

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Reads the items that a restarted provider would have.
    func items() throws -> [Item] {
      guard let data = FileManager.default.contents(atPath: path) else { return [] }
      return try JSONDecoder().decode(Content.self, from: data).items
    }

    /// Changes the fields of the items, or removes them, as only the next start of the provider sees it.
    ///
    /// - Parameter body: A closure that returns the new fields, or `nil` to remove the item.
    /// - Throws: An error if the file isn't there.
    func edit(_ body: ([String: Any]) -> [String: Any]?) throws {
      let url = URL(filePath: path)
      var content = try #require(
        JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [String: Any])
      content["items"] = try #require(content["items"] as? [[String: Any]]).compactMap(body)
      try JSONSerialization.data(withJSONObject: content).write(to: url)
    }

    /// Reads the items that have all these attributes.
    func items(_ attributes: [String: String]) throws -> [Item] {
      try items().filter { item in attributes.allSatisfy { item.attributes[$0] == $1 } }
    }
  }
}
#endif
