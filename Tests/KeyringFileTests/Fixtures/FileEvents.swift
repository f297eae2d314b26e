// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile && os(Linux)
import Foundation
import Testing

/// The events of a file, or of the files in a directory: see inotify(7).
final class FileEvents: Sendable {
  private let descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))

  init(_ mask: UInt32, of path: String) throws {
    try #require(inotify_add_watch(descriptor, path, mask) >= 0)
  }

  deinit { close(descriptor) }

  /// Waits for an event, for a minute at most.
  func wait() {
    var source = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    #expect(poll(&source, 1, 60_000) == 1)
  }

  /// Takes the events so far, with the names of the files in the directory.
  func take() -> [(name: String, mask: UInt32)] {
    var buffer = [UInt8](repeating: 0, count: 1 << 14)
    let count = read(descriptor, &buffer, buffer.count)
    var rest = buffer.prefix(max(0, count))
    var events: [(name: String, mask: UInt32)] = []
    while !rest.isEmpty {
      let event = rest.withUnsafeBytes { $0.loadUnaligned(as: inotify_event.self) }
      let end = MemoryLayout<inotify_event>.size + Int(event.len)
      let name = rest.prefix(end).dropFirst(MemoryLayout<inotify_event>.size).prefix { $0 != 0 }
      events.append((String(decoding: name, as: UTF8.self), event.mask))
      rest = rest.dropFirst(end)
    }
    return events
  }
}
#endif
