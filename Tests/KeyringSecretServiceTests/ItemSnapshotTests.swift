// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import KeyringStorage
import Testing

@testable import KeyringSecretService

/// The comparison of a collection's items with those that were known.
struct ItemSnapshotTests {
  private let key = ItemKey.password(service: "service", account: "account")
  private let path = ObjectPath("/org/freedesktop/secrets/collection/login/1")

  /// Keyrings keep times in whole seconds, so the fingerprint doesn't show a second change.
  @Test(arguments: [true, false])
  func `an item that was read in the second of its change may have changed again unseen`(
    isRecent: Bool
  ) {
    let item = KnownItem(
      key: key, isOwn: true, isLocked: false, fingerprint: 1, isRecent: isRecent)
    var snapshot = ItemSnapshot([path: item])
    #expect(snapshot.replaceAll(by: [path: item]).isEmpty)
    snapshot.doubt { $1.isRecent }
    let changes = snapshot.replaceAll(by: [path: item])
    #expect(changes == (isRecent ? [.replaced(key)] : []))
    #expect(snapshot.replaceAll(by: [path: item]).isEmpty)
  }
}
#endif
