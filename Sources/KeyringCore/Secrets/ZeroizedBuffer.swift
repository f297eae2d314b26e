// SPDX-License-Identifier: Apache-2.0

package import KeyringPlatform

/// A fixed number of bytes that are overwritten before their memory is released.
///
/// The class is `Sendable`: the initializer of `Secret` is the last to write to the buffer.
/// It's safe because the buffer has its size, and its memory until the release.
@safe final class ZeroizedBuffer: @unchecked Sendable {
  let buffer: UnsafeMutableRawBufferPointer
  private let page: LockedPage

  init(count: Int) { unsafe (page, buffer) = LockedPage.allocate(count) }

  convenience init(copying bytes: UnsafeRawBufferPointer) {
    self.init(count: bytes.count)
    unsafe buffer.copyMemory(from: bytes)
  }

  deinit {
    unsafe buffer.zeroize()
    unsafe page.deallocate(buffer)
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Overwrites the bytes with zeros.
  ///
  /// The optimizer may remove a plain memset of memory that's about to be freed.
  package func zeroize() {
    guard let baseAddress else { return }
    unsafe Platform.zeroize(baseAddress, count)
  }
}

extension Data {
  /// Overwrites the bytes in place, which no other value may share.
  package mutating func zeroize() { unsafe withUnsafeMutableBytes { unsafe $0.zeroize() } }
}
