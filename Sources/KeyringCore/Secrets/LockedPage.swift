// SPDX-License-Identifier: Apache-2.0

internal import KeyringLibc
internal import Synchronization

/// Memory that holds only secrets.
///
/// It's kept out of the swap space if the process's limit on locked memory allows it, and out of core dumps
/// if the system supports that.
///
/// Small secrets share a page. The page is divided into slots of one size: halves, quarters, and so on down
/// to sixty-fourths. A larger secret has its own pages.
///
/// The class is `Sendable` because the state of a shared page only changes under the lock on all shared
/// pages.
final class LockedPage: @unchecked Sendable {
  private let address: UnsafeMutableRawPointer
  private let byteCount: Int
  /// The number of times the memory was halved to create the slots.
  private let sizeClass: Int
  /// The free slots, as one bit for each slot.
  private var free: UInt64

  private init(byteCount: Int, sizeClass: Int) {
    let address = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
    // If no memory is left, Swift's own allocations end the process, too.
    guard let address, address != MAP_FAILED else {
      fatalError("There isn't enough memory for a secret.")
    }
    // This fails if the limit is reached. The secret is still stored, but it may be swapped out.
    _ = mlock(address, byteCount)
    #if os(Linux) || os(Android)
    _ = madvise(address, byteCount, MADV_DONTDUMP)
    #endif
    self.address = address
    self.byteCount = byteCount
    self.sizeClass = sizeClass
    free = Self.allSlots(sizeClass)
  }

  deinit {
    munmap(address, byteCount)
  }

  private static func allSlots(_ sizeClass: Int) -> UInt64 { .max &>> (64 &- 1 &<< sizeClass) }

  private var slotSize: Int { byteCount &>> sizeClass }
  private var isFull: Bool { free == 0 }
  private var isEmpty: Bool { free == Self.allSlots(sizeClass) }

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

extension LockedPage {
  private static let size = Int(sysconf(Int32(_SC_PAGESIZE)))

  /// The size class that has as many slots as there are bits.
  private static let largestSizeClass = 6

  /// The pages that have a free slot, by size class.
  private static let withRoom = Mutex([[LockedPage]](repeating: [], count: largestSizeClass + 1))

  /// Allocates memory for a secret.
  ///
  /// - Parameter byteCount: The size of the secret, which may be 0.
  /// - Returns: The memory, which isn't initialized, and its page.
  static func allocate(
    _ byteCount: Int
  ) -> (page: LockedPage, bytes: UnsafeMutableRawBufferPointer) {
    if byteCount > size / 2 {
      let page = LockedPage(byteCount: (byteCount + size - 1) / size * size, sizeClass: 0)
      return (page, page.takeSlot(byteCount))
    }
    let slotsThatFit = size / max(byteCount, 1)
    let sizeClass = min(Int.bitWidth - 1 - slotsThatFit.leadingZeroBitCount, largestSizeClass)
    return withRoom.withLock { pages in
      if pages[sizeClass].isEmpty {
        pages[sizeClass].append(LockedPage(byteCount: size, sizeClass: sizeClass))
      }
      let page = pages[sizeClass][pages[sizeClass].endIndex - 1]
      let bytes = page.takeSlot(byteCount)
      if page.isFull { pages[sizeClass].removeLast() }
      return (page, bytes)
    }
  }

  /// Takes back memory from ``allocate(_:)``, which must already be overwritten.
  ///
  /// An empty page is returned to the system unless it's the only page with room in its size class.
  func deallocate(_ bytes: UnsafeMutableRawBufferPointer) {
    guard sizeClass > 0, let slot = bytes.baseAddress else { return }
    Self.withRoom.withLock { pages in
      if isFull { pages[sizeClass].append(self) }
      giveBackSlot(at: slot)
      guard isEmpty, pages[sizeClass].count > 1 else { return }
      pages[sizeClass].removeAll { $0 === self }
    }
  }
}
