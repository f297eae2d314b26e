// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Glibc
import Testing

/// A terminal that controls this process, and the user at it.
///
/// The process becomes the leader of a session, so that a terminal of the tests isn't asked.
struct OwnTerminal {
  private let screen: Int32

  init() throws {
    try #require(setsid() >= 0, "this process leads a group")
    screen = open("/dev/ptmx", O_RDWR | O_NOCTTY)
    var (lock, number) = (Int32(0), Int32(-1))
    // The requests TIOCSPTLCK and TIOCGPTN of ioctl_tty(2)
    try #require(ioctl(screen, 0x4004_5431, &lock) == 0 && ioctl(screen, 0x8004_5430, &number) == 0)
    // The first terminal that a leader without one opens controls its session.
    let terminal = open("/dev/pts/\(number)", O_RDWR)
    try #require(terminal >= 0 && tcgetpgrp(terminal) == getpgrp())
  }

  /// Runs a closure while the user types a secret as the answer to each of some questions.
  func answering<Result>(
    _ questions: String..., with canary: Canary, _ body: () throws -> Result
  ) throws -> Result {
    let isDone = DispatchSemaphore(value: 0)
    DispatchQueue(label: "OwnTerminal").async { [screen] in
      for question in questions {
        var text: [UInt8] = []
        var byte: UInt8 = 0
        while !text.ends(with: question), read(screen, &byte, 1) == 1 { text.append(byte) }
        var line = canary.bytes
        write(screen, line, line.count)
        line.wipe()
        line = [UInt8(ascii: "\n")]
        write(screen, line, 1)
      }
      isDone.signal()
    }
    defer {
      #expect(isDone.wait(timeout: .now() + 60) == .success, "not every question was asked")
    }
    return try body()
  }
}

extension [UInt8] {
  fileprivate func ends(with text: String) -> Bool {
    suffix(text.utf8.count) == Array(text.utf8)[...]
  }
}
#endif
