// SPDX-License-Identifier: Apache-2.0

import Contending
import Foundation
import Keyring
import KeyringStorage

/// The item that is written while others follow it.
private let rotated = "rotated"

/// Writes new values of an item, and tells when.
func rotate() async throws {
  let password = Password<String?>(
    rotated, service: Sample.service, storage: Sample.storage())
  while let value = readLine() {
    let start = nanoseconds()
    try await password.write(value)
    answer([start])
  }
}

/// Follows an item with storages of its own, as that many processes would, until the input ends.
///
/// Each does what a service does: it waits for a change of the property, and reads the property.
func follow(count: Int) async throws {
  for number in 0..<count {
    let password = Password<String?>(
      rotated, service: Sample.service, storage: Sample.storage().cached())
    let changes = try await password.changes
    _ = try await password.read()
    Task {
      for await _ in changes {
        if let value = try await password.read() {
          answer(["\(number)", value, "\(nanoseconds())"])
        }
      }
    }
  }
  answer(["ready"])
  // Reading blocks, which a thread of the tasks mustn't.
  await withCheckedContinuation { (end: CheckedContinuation<Void, Never>) in
    Thread {
      while readLine() != nil {}
      end.resume()
    }.start()
  }
}

/// Reads all items into a cache, and prints the time and the memory of the process.
func readFirst() async throws {
  let storage = Sample.storage().cached()
  let start = nanoseconds()
  _ = try await storage.password(for: Sample.key(0))
  let end = nanoseconds()
  let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
  let memory = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
  answer([end - start, try number(memory.filter(\.isNumber))])
}
