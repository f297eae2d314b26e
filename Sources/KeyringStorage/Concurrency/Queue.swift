// SPDX-License-Identifier: Apache-2.0

/// A first-in, first-out queue whose operations take constant time on average.
struct Queue<Element> {
  /// The elements.
  ///
  /// A removed one is `nil` until its slot is removed, too.
  private var elements: [Element?] = []
  private var start = 0

  var isEmpty: Bool { start == elements.count }
  var count: Int { elements.count - start }
  var first: Element? { isEmpty ? nil : elements[start] }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard let first else { return nil }
    elements[start] = nil
    start += 1
    if start > elements.count / 2 {
      elements.removeFirst(start)
      start = 0
    }
    return first
  }
}

extension Queue: Sendable where Element: Sendable {}
