// SPDX-License-Identifier: Apache-2.0

#if Files
import Contending
import Keyring
import KeyringStorage
import KeyringToolCommands

/// Imports a file of `NAME=value` lines, as keyring-tool does.
struct Import: Work {
  enum Destination { case nothing, memory, keyring }

  private let path: String
  private let destination: Destination
  private var (expected, done) = (0, 0)

  init(path: String?, into destination: Destination) throws {
    guard let path else { throw Failure("there is no file") }
    (self.path, self.destination) = (path, destination)
    // This opens the session.
    if destination == .keyring { _ = try Sample.storage().exists(Sample.key(0)) }
  }

  mutating func perform() throws {
    let file = try PlaintextImport(
      ofFileAt: path, format: .environment, service: Sample.service)
    expected = file.lines.count
    done =
      switch destination {
      case .nothing: expected
      case .memory: try file.copy(to: InMemoryStorage(), replacing: false)
      case .keyring: try file.copy(to: Sample.storage(), replacing: false)
      }
  }

  func check() throws {
    guard done == expected else { throw Failure("imported \(done) of \(expected)") }
  }
}
#endif
