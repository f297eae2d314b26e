/// What waits for its turn: first in, first out, each in constant time.
struct Queue<Element> {
  private var elements: [Element] = []
  /// The number of elements that have left, and whose places are still there.
  private var gone = 0

  var isEmpty: Bool { gone == elements.count }
  var count: Int { elements.count - gone }
  var first: Element? { isEmpty ? nil : elements[gone] }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard let first else { return nil }
    gone += 1
    if gone == elements.count || gone > 1000 {
      elements.removeFirst(gone)
      gone = 0
    }
    return first
  }
}

extension Queue: Sendable where Element: Sendable {}
