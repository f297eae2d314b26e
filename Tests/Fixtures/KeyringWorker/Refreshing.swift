// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dispatch
import FoundationEssentials
import Glibc
import Keyring
import KeyringStorage
import Synchronization

/// Keeps tokens valid until the input ends, with `Tests/Fixtures/token-server.py`.
///
/// The program prints what it's about to do, so that a test knows at which moment it has killed it.
struct Refreshing {
  struct Tokens: Codable, Equatable, Sendable {
    var refresh: Int
    var expires: Date
  }

  let storage: any SecureStorage
  let service: String
  /// The path of the server's socket.
  let server: String
  let name: String
  /// Whether the program uses the form with `await`.
  let isAsynchronous: Bool

  private var tokens: StoredValue<Tokens> {
    storage[.value(service: service, account: "tokens"), as: .value()]
  }

  func run() throws {
    do {
      try refreshUntilInputEnds()
    } catch {
      tell("error \(error)")
      throw error
    }
  }

  private func refreshUntilInputEnds() throws {
    let isOver = Atomic(false)
    DispatchQueue(label: "KeyringWorker").async {
      while readLine() != nil {}
      isOver.store(true, ordering: .relaxed)
    }
    let (tokens, isAsynchronous) = (tokens, isAsynchronous)
    while !isOver.load(ordering: .relaxed) {
      let found: Tokens?
      if isAsynchronous {
        found = try waitForTask {
          try await tokens.refresh(if: needsRefresh) { old in
            // An app's request suspends the task.
            await Task.yield()
            return try renew(old)
          }
        }
      } else {
        found = try tokens.refresh(if: needsRefresh, renew)
      }
      guard let found else { throw WorkerFailure("there are no tokens") }
      tell("valid \(found.refresh)")
      // The other programs need the processor, too.
      usleep(1000)
    }
  }

  private func needsRefresh(_ tokens: Tokens) -> Bool {
    let isOld = tokens.expires < .now
    if isOld { tell("waiting") }
    return isOld
  }

  private func renew(_ old: Tokens) throws -> Tokens {
    tell("inside")
    usleep(.random(in: 0..<3000))
    tell("sending \(old.refresh)")
    let answer = try ask("\(name) \(old.refresh)\n").split(separator: " ").compactMap { Int($0) }
    guard answer.count == 2 else { throw WorkerFailure("the server has no answer") }
    tell("answered \(old.refresh)")
    return Tokens(
      refresh: answer[0], expires: Date(timeIntervalSince1970: Double(answer[1]) / 1000))
  }

  /// Sends a line to the server, and returns its answer without the end of the line.
  private func ask(_ line: String) throws -> String {
    let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let isPathShort = withUnsafeMutableBytes(of: &address.sun_path) { path in
      path.copyBytes(from: server.utf8)
      return server.utf8.count < path.count
    }
    let isConnected = withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    guard isPathShort, isConnected, send(socket, line, line.utf8.count, 0) > 0 else {
      throw WorkerFailure("the server can't be reached: error \(errno)")
    }
    var answer: [UInt8] = []
    var byte: UInt8 = 0
    while recv(socket, &byte, 1, 0) == 1, byte != UInt8(ascii: "\n") { answer.append(byte) }
    return String(decoding: answer, as: UTF8.self)
  }
}

/// A storage whose callers of one process alone take turns, as if it had no turns for several.
struct Turnless: BlockingStorage {
  let base: any SecureStorage

  func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
    try base.save(item, mode: mode)
  }

  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try base.items(matching: query)
  }

  func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try base.removeItems(matching: query)
  }
}
#endif
