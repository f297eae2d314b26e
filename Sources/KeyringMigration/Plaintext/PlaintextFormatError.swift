// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// An error in the content of a file, which contains nothing of the content except names.
struct PlaintextFormatError: Error {
  let code: SecureStorageError.Code
  let message: String

  init(_ message: String, code: SecureStorageError.Code = .undecodable) {
    (self.code, self.message) = (code, message)
  }
}
