// SPDX-License-Identifier: Apache-2.0

/// A first-in, first-out queue whose operations take constant time on average.
package struct Queue<Element> {
  /// The elements.
  ///
  /// A removed one is `nil` until its slot is removed, too.
  @usableFromInline var elements: [Element?] = []
  @usableFromInline var start = 0

  @inlinable package init() {}

  @inlinable package var isEmpty: Bool { start == elements.count }
  @inlinable package var count: Int { elements.count - start }
  @inlinable package var first: Element? { isEmpty ? nil : elements[start] }

  @inlinable package mutating func append(_ element: Element) { elements.append(element) }

  @inlinable package mutating func popFirst() -> Element? {
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
