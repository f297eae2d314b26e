// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform

/// An event source whose only event is being woken.
final class Wakening: EventSource {
  private let signal = ThreadSignal()

  func enter() {}

  func wait(until moment: Int64?) { signal.wait(until: moment) }

  func wake() { signal.send() }

  func leave() {}
}
