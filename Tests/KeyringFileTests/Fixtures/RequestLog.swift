// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile && os(Linux)
import KeyringStorage
import Synchronization

@testable import KeyringFile
@testable import KeyringSealing

/// The purposes for which a source was asked, in order.
final class RequestLog: Sendable {
  private let purposes = Mutex<[KeyRequest.Purpose]>([])

  var all: [KeyRequest.Purpose] { purposes.withLock { $0 } }

  /// Adds a purpose, and returns the number of purposes so far.
  @discardableResult func add(_ purpose: KeyRequest.Purpose) -> Int {
    purposes.withLock { purposes in
      purposes.append(purpose)
      return purposes.count
    }
  }

  /// Returns a source that calls a closure with each purpose and its number before it has its key.
  func source(
    _ key: Secret,
    _ body: @escaping @Sendable (KeyRequest.Purpose, Int) async throws(SecureStorageError) -> Void
  ) -> KeySource {
    KeySource(named: "asking") { (request) async throws(SecureStorageError) in
      try await body(request.purpose, self.add(request.purpose))
      return key
    }
  }
}
#endif
