// SPDX-License-Identifier: Apache-2.0

package import KeyringPlatform

/// A fixed number of bytes that are overwritten before their memory is released.
///
/// The class is `Sendable`: the initializer of `Secret` is the last to write to the buffer.
final class ZeroizedBuffer: @unchecked Sendable {
  let buffer: UnsafeMutableRawBufferPointer
  private let page: LockedPage

  init(count: Int) { (page, buffer) = LockedPage.allocate(count) }

  convenience init(copying bytes: UnsafeRawBufferPointer) {
    self.init(count: bytes.count)
    buffer.copyMemory(from: bytes)
  }

  deinit {
    buffer.zeroize()
    page.deallocate(buffer)
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Overwrites the bytes with zeros.
  ///
  /// The optimizer may remove a plain memset of memory that's about to be freed.
  package func zeroize() {
    guard let baseAddress else { return }
    Platform.zeroize(baseAddress, count)
  }
}

extension Data {
  /// Overwrites the bytes in place, which no other value may share.
  package mutating func zeroize() { withUnsafeMutableBytes { $0.zeroize() } }
}
