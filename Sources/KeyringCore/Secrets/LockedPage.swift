// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform
internal import Synchronization

/// Memory that holds only secrets.
///
/// It's kept out of the swap space if the process's limit on locked memory allows it, and out of core dumps
/// if the system supports that. The pages before and after it can't be read. They stop a read that goes past
/// the end of other memory, or past the end of a secret.
///
/// Small secrets share a page. The page is divided into slots of one size: halves, quarters, and so on down
/// to sixty-fourths. A larger secret has its own pages.
///
/// The class is `Sendable` because the state of a shared page only changes under the lock on all shared
/// pages. It's safe because only `Secret` gets the memory, and keeps the page for as long.
@safe final class LockedPage: @unchecked Sendable {
  private let address: UnsafeMutableRawPointer
  private let byteCount: Int
  /// The number of times the memory was halved to create the slots.
  private let sizeClass: Int
  /// The free slots, as one bit for each slot.
  private var free: UInt64

  /// Whether the system hides the memory from other processes.
  private let isHidden: Bool
  /// Whether there are pages before and after the memory that can't be read.
  private let isGuarded: Bool

  private init(byteCount: Int, sizeClass: Int) {
    self.byteCount = byteCount
    self.sizeClass = sizeClass
    free = Self.allSlots(sizeClass)
    let guarded = unsafe Self.guardedMemory(byteCount)
    isGuarded = unsafe guarded != nil
    unsafe address = guarded ?? Self.map(byteCount, PROT_READ | PROT_WRITE)
    isHidden = unsafe isGuarded && Self.hidesNewPages && Self.hide(address, byteCount)
    if isHidden { return }
    // The system joins mappings only before they have memory, which locking gives them.
    #if os(Linux) || os(Android)
    _ = unsafe madvise(address, byteCount, MADV_DONTDUMP)
    #endif
    // This fails if the limit is reached. The secret is still stored, but it may be swapped out.
    _ = unsafe mlock(address, byteCount)
  }

  deinit {
    // The secrets are overwritten by now, so a failure only wastes memory.
    guard isGuarded else {
      unsafe munmap(address, byteCount)
      return
    }
    unsafe Self.unmapGuarded(address, byteCount)
  }

  private static func map(_ byteCount: Int, _ access: Int32) -> UnsafeMutableRawPointer {
    // If no memory is left, Swift's own allocations end the process, too.
    guard let address = unsafe mmap(nil, byteCount, access, MAP_PRIVATE | MAP_ANON, -1, 0),
      unsafe address != MAP_FAILED
    else {
      fatalError("There isn't enough memory for a secret.")
    }
    return unsafe address
  }

  /// The largest number of pages and groups of pages that are guarded at a time.
  ///
  /// Each needs two mappings, of which a process can have 65,530 by default.
  private static let mostGuarded = 4096
  private static let guardedCount = Atomic(0)

  /// Returns memory between two pages that can't be read, or `nil` if there are many such pages already.
  private static func guardedMemory(_ byteCount: Int) -> UnsafeMutableRawPointer? {
    if guardedCount.add(1, ordering: .relaxed).newValue <= mostGuarded {
      let whole = unsafe map(byteCount + 2 * size, PROT_NONE)
      let address = unsafe whole + size
      if unsafe mprotect(address, byteCount, PROT_READ | PROT_WRITE) == 0 { return unsafe address }
      unsafe munmap(whole, byteCount + 2 * size)
    }
    guardedCount.subtract(1, ordering: .relaxed)
    return nil
  }

  private static func unmapGuarded(_ address: UnsafeMutableRawPointer, _ byteCount: Int) {
    unsafe munmap(address - size, byteCount + 2 * size)
    guardedCount.subtract(1, ordering: .relaxed)
  }

  private static func allSlots(_ sizeClass: Int) -> UInt64 { .max &>> (64 &- 1 &<< sizeClass) }

  private var slotSize: Int { byteCount &>> sizeClass }
  private var isFull: Bool { free == 0 }
  private var isEmpty: Bool { free == Self.allSlots(sizeClass) }

  private func takeSlot(_ byteCount: Int) -> UnsafeMutableRawBufferPointer {
    let slot = free.trailingZeroBitCount
    free &= ~(1 &<< slot)
    return unsafe UnsafeMutableRawBufferPointer(start: address + slot * slotSize, count: byteCount)
  }

  private func giveBackSlot(at slotAddress: UnsafeMutableRawPointer) {
    unsafe free |= 1 &<< ((slotAddress - address) / slotSize)
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
      return unsafe (page, page.takeSlot(byteCount))
    }
    let slotsThatFit = size / max(byteCount, 1)
    let sizeClass = min(Int.bitWidth - 1 - slotsThatFit.leadingZeroBitCount, largestSizeClass)
    return unsafe withRoom.withLock { pages in
      if pages[sizeClass].isEmpty {
        pages[sizeClass].append(LockedPage(byteCount: size, sizeClass: sizeClass))
      }
      let page = pages[sizeClass][pages[sizeClass].endIndex - 1]
      let bytes = unsafe page.takeSlot(byteCount)
      if page.isFull { pages[sizeClass].removeLast() }
      return unsafe (page, bytes)
    }
  }

  /// Takes back memory from ``allocate(_:)``, which must already be overwritten.
  ///
  /// An empty page is returned to the system unless it's the only page with room in its size class.
  func deallocate(_ bytes: UnsafeMutableRawBufferPointer) {
    guard sizeClass > 0, let slot = bytes.baseAddress else { return }
    Self.withRoom.withLock { pages in
      // A page from before new pages were hidden gets no new secrets.
      if isFull, isHidden || !Self.hidesNewPages { pages[sizeClass].append(self) }
      unsafe giveBackSlot(at: slot)
      guard isEmpty, pages[sizeClass].count > 1 else { return }
      pages[sizeClass].removeAll { $0 === self }
    }
  }
}

// MARK: - Hidden memory

extension LockedPage {
  /// Whether the system hides new pages from other processes.
  private static let hidesNew = Atomic(false)

  private static var hidesNewPages: Bool { hidesNew.load(ordering: .acquiring) }

  /// Hides new pages from other processes, and returns `false` if the system can't do that.
  static func hideNewPages() -> Bool {
    if hidesNewPages { return true }
    guard let trial = unsafe guardedMemory(size) else { return false }
    defer { unsafe unmapGuarded(trial, size) }
    guard unsafe hide(trial, size) else { return false }
    withRoom.withLock { pages in
      hidesNew.store(true, ordering: .releasing)
      // Secrets from before keep their pages.
      pages = [[LockedPage]](repeating: [], count: largestSizeClass + 1)
    }
    return true
  }

  /// Replaces memory by memory that the system hides from other processes.
  ///
  /// See [memfd_secret(2)](https://man7.org/linux/man-pages/man2/memfd_secret.2.html). The system keeps such
  /// memory out of the swap space and out of core dumps by itself.
  private static func hide(_ address: UnsafeMutableRawPointer, _ byteCount: Int) -> Bool {
    #if os(Linux)
    let file = swift_keyring_memfd_secret(UInt32(O_CLOEXEC))
    guard file >= 0 else { return false }
    defer { close(file) }
    guard ftruncate(file, off_t(byteCount)) == 0 else { return false }
    // This fails if the limit on locked memory is reached. In place of the other memory, a failure would leave
    // a hole.
    guard
      let hidden = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
      unsafe hidden != MAP_FAILED
    else { return false }
    // The memory is shared with child processes, one of which would overwrite the secrets of this one.
    if unsafe madvise(hidden, byteCount, MADV_DONTFORK) == 0,
      unsafe swift_keyring_move_mapping(hidden, byteCount, address) == 0
    {
      return true
    }
    unsafe munmap(hidden, byteCount)
    return false
    #else
    return false
    #endif
  }
}
