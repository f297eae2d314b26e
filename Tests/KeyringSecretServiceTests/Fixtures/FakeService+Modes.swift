// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Testing

extension FakeService {
  /// A behavior of a real provider that the provider has from the first message on.
  enum Mode: Hashable, CustomStringConvertible, CustomTestStringConvertible {
    /// `SetSecret`, `Label` and `Attributes` change only memory, unlike `CreateItem` and `Delete` (oo7).
    case memory
    /// `Delete` removes from the disk each item whose attributes contain those of the item in memory (oo7).
    case sweeping
    /// A creation replaces only items with exactly the same attributes (oo7).
    ///
    /// Otherwise, it replaces an item that has at least these attributes, as gnome-keyring 42.1 does.
    case exact
    /// A replacement is a removal and a creation under a new path, and a search in between finds nothing (oo7).
    ///
    /// Questions that come within 20 ms are answered in between, up to the first search. Changes wait.
    case gap
    /// Each item has the attribute `xdg:content-type` (oo7).
    case contentType
    /// Secrets of uncommon content types are refused (oo7).
    case types
    /// For that many milliseconds after a start, `OpenSession` isn't answered, and there are no collections (oo7).
    case sleepy(milliseconds: Int)
    /// The same for that many messages.
    case sleepyCalls(Int)
    /// No alias has an object, and `ReadAlias` knows it (oo7 for the alias "session").
    case noAliases
    /// A locked item isn't found, and shows no property but its lock (oo7).
    case hiding
    /// A prompt asks the user before anything is unlocked, or created or removed while it's locked (oo7).
    ///
    /// The prompt is accepted, unless another mode says something else.
    case prompting
    /// `Prompt` answers with an error (oo7, if no program shows prompts).
    case promptError
    /// `Prompt` answers after the user, and a number of prompts never end (oo7 in a terminal, after a wrong password).
    case promptSilent(Int)
    /// `Prompt` takes a second and must not be repeated, and the user answers three seconds later.
    case promptSlow
    /// Items have other paths after a restart (oo7).
    case renumbering
    /// The label of a new collection begins with a capital; one with "/" is lost at the restart (oo7).
    case capitals
    /// There is a collection that ends with the provider, and that only `ReadAlias` knows as "session" (oo7).
    case session
    /// Locking and unlocking send `ItemChanged` for each item (gnome-keyring 42.1, oo7).
    case restless
    /// A replaced item keeps its label (KWallet 5.103 to 6.30).
    case labelKept
    /// The disk is written that many milliseconds after the last change (KWallet 5.103, KeePassXC 2.7.4).
    case late(milliseconds: Int)

    /// The behaviors of oo7's daemon.
    static let oo7: [Mode] =
      [.sleepy(milliseconds: 60), .memory, .sweeping, .exact, .gap, .contentType, .types, .hiding]
      + [.prompting, .renumbering, .capitals, .session, .restless]

    /// The mode as `fake-service.py` knows it.
    var description: String {
      switch self {
      case .memory: "memory"
      case .sweeping: "sweeping"
      case .exact: "exact"
      case .gap: "gap"
      case .contentType: "content-type"
      case .types: "types"
      case .sleepy(let milliseconds): "sleepy=\(milliseconds)"
      case .sleepyCalls(let count): "sleepy-calls=\(count)"
      case .noAliases: "no-aliases"
      case .hiding: "hiding"
      case .prompting: "prompting"
      case .promptError: "prompt-error"
      case .promptSilent(let count): "prompt-silent=\(count)"
      case .promptSlow: "prompt-slow"
      case .renumbering: "renumbering"
      case .capitals: "capitals"
      case .session: "session"
      case .restless: "restless"
      case .labelKept: "label-kept"
      case .late(let milliseconds): "late=\(milliseconds)"
      }
    }

    var testDescription: String { description }
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

    /// Reads the items that have all these attributes.
    func items(_ attributes: [String: String]) throws -> [Item] {
      try items().filter { item in attributes.allSatisfy { item.attributes[$0] == $1 } }
    }
  }
}
#endif
