#if EncryptedFile
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

extension Data {
  /// Overwrites the bytes in place.
  ///
  /// No other value may share the bytes. The memory that swift-crypto allocates for decrypted data isn't
  /// shared.
  mutating func wipe() {
    withUnsafeMutableBytes { bytes in
      guard let address = bytes.baseAddress else { return }
      #if canImport(Darwin)
      memset_s(address, bytes.count, 0, bytes.count)
      #else
      explicit_bzero(address, bytes.count)
      #endif
    }
  }
}
#endif
