internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Memory that holds nothing but secrets: kept out of the swap space as far as the process's limit
/// on locked memory allows, and out of core dumps where the system can leave something out.
///
/// Small secrets share a page, which is divided into slots of one size: halves, quarters, and so on
/// to sixty-fourths. A larger secret has pages of its own.
///
/// Sendable because what changes of a page that is shared changes under the lock on all of them.
final class SecretPage: @unchecked Sendable {
  private let address: UnsafeMutableRawPointer
  private let byteCount: Int
  /// How many times the memory was halved to make slots of it.
  private let halvings: Int
  /// A bit for each slot: whether it is free.
  private var free: UInt64

  private init(byteCount: Int, halvings: Int) {
    let address = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
    // Where no memory is left Swift's own allocations end the process too.
    guard let address, address != MAP_FAILED else { fatalError("There is no memory for a secret.") }
    // Fails where the limit is reached. The secret is kept all the same, and may be swapped out.
    _ = mlock(address, byteCount)
    #if os(Linux) || os(Android)
    _ = madvise(address, byteCount, MADV_DONTDUMP)
    #endif
    self.address = address
    self.byteCount = byteCount
    self.halvings = halvings
    free = Self.allSlots(halvings)
  }

  deinit {
    munmap(address, byteCount)
  }

  private static func allSlots(_ halvings: Int) -> UInt64 { .max &>> (64 &- 1 &<< halvings) }

  private var slotSize: Int { byteCount &>> halvings }
  private var isFull: Bool { free == 0 }
  private var isEmpty: Bool { free == Self.allSlots(halvings) }

  private func takeSlot(_ byteCount: Int) -> UnsafeMutableRawBufferPointer {
    let slot = free.trailingZeroBitCount
    free &= ~(1 &<< slot)
    return UnsafeMutableRawBufferPointer(start: address + slot * slotSize, count: byteCount)
  }

  private func giveBackSlot(at slotAddress: UnsafeMutableRawPointer) {
    free |= 1 &<< ((slotAddress - address) / slotSize)
  }
}

// MARK: - All pages

extension SecretPage {
  private static let size = Int(sysconf(Int32(_SC_PAGESIZE)))

  /// As many slots as there are bits.
  private static let mostHalvings = 6

  /// The pages that have a free slot, by how often they were halved.
  private static let withRoom = Mutex([[SecretPage]](repeating: [], count: mostHalvings + 1))

  /// Finds memory for a secret.
  ///
  /// - Parameter byteCount: The size of the secret, which may be 0.
  /// - Returns: The memory, not initialized, and the page that it is in.
  static func allocate(
    _ byteCount: Int
  ) -> (page: SecretPage, bytes: UnsafeMutableRawBufferPointer) {
    if byteCount > size / 2 {
      let page = SecretPage(byteCount: (byteCount + size - 1) / size * size, halvings: 0)
      return (page, page.takeSlot(byteCount))
    }
    let slotsThatFit = size / max(byteCount, 1)
    let halvings = min(Int.bitWidth - 1 - slotsThatFit.leadingZeroBitCount, mostHalvings)
    return withRoom.withLock { pages in
      if pages[halvings].isEmpty {
        pages[halvings].append(SecretPage(byteCount: size, halvings: halvings))
      }
      let page = pages[halvings][pages[halvings].endIndex - 1]
      let bytes = page.takeSlot(byteCount)
      if page.isFull { pages[halvings].removeLast() }
      return (page, bytes)
    }
  }

  /// Takes back what ``allocate(_:)`` has given, overwritten by then.
  ///
  /// An empty page is returned to the system unless it is the only one with room for its size.
  func deallocate(_ bytes: UnsafeMutableRawBufferPointer) {
    guard halvings > 0, let slot = bytes.baseAddress else { return }
    Self.withRoom.withLock { pages in
      if isFull { pages[halvings].append(self) }
      giveBackSlot(at: slot)
      guard isEmpty, pages[halvings].count > 1 else { return }
      pages[halvings].removeAll { $0 === self }
    }
  }
}
