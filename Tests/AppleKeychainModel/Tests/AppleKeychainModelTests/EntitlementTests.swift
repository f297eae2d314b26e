// SPDX-License-Identifier: Apache-2.0

import AppleKeychainModel
import CoreFoundation
import Security
import Testing

/// Apple's KeychainEntitlementsTest, told again.
@Suite(.freshDevice) struct EntitlementTests {
  let place = Place.dataProtection
  let label: Place.Pairs = [kSecClass: kSecClassGenericPassword, kSecAttrLabel: "label"]

  /// Copy, add and delete, in this order.
  private func statuses(_ groups: [String], _ pairs: Place.Pairs? = nil) -> [OSStatus] {
    let pairs = pairs ?? label
    return KeychainModel.$caller.withValue(Caller(accessGroups: groups)) {
      [place.copy(pairs).status, place.add(pairs), place.delete(pairs)]
    }
  }

  private func inGroup(_ group: String) -> Place.Pairs {
    [kSecClass: kSecClassGenericPassword, kSecAttrLabel: "label", kSecAttrAccessGroup: group]
  }

  @Test("testNoEntitlements: only reading looks as if there was nothing")
  func noEntitlements() {
    #expect(
      statuses([]) == [errSecItemNotFound, errSecMissingEntitlement, errSecMissingEntitlement])
    KeychainModel.$caller.withValue(Caller(accessGroups: [])) {
      #expect(place.update(label, [kSecAttrLabel: "new"]) == errSecMissingEntitlement)
    }
    KeychainModel.$caller.withValue(Caller(accessGroups: [], platform: .iOS)) {
      #expect(place.copy(label).status == errSecMissingEntitlement)
    }
  }

  @Test("testValidEntitlementsAppID, testEntitlementsAssociatedAppID: the first group is written")
  func validEntitlements() {
    #expect(
      statuses(["app"], inGroup("app")) == [errSecItemNotFound, errSecSuccess, errSecSuccess])
    KeychainModel.$caller.withValue(Caller(accessGroups: ["associated", "app"])) {
      #expect(place.add(label) == errSecSuccess)
    }
    #expect(KeychainModel.current.rows.first?.attributes["agrp"] == .text("associated"))
  }

  @Test(
    "testInvalidEntitlementsAppID: what the signature doesn't confirm is no entitlement, in reads too"
  )
  func unconfirmed() {
    var caller = Caller()
    caller.isConfirmed = false
    KeychainModel.$caller.withValue(caller) {
      #expect(place.copy(label).status == errSecMissingEntitlement)
      #expect(place.add(label) == errSecMissingEntitlement)
      #expect(place.update(label, [kSecAttrLabel: "new"]) == errSecMissingEntitlement)
      #expect(place.delete(label) == errSecMissingEntitlement)
    }
  }

  @Test("Catalyst and iOS apps on a Mac always mean data protection")
  func catalyst() {
    KeychainModel.$caller.withValue(Caller(platform: .catalyst)) {
      #expect(Place.file.add(label) == errSecSuccess && place.copy(label).status == errSecSuccess)
      #expect(place.update(label, [kSecAttrLabel: "new"]) == errSecSuccess)
    }
    #expect(KeychainModel.current.rows.first?.attributes["agrp"] == .text("TEAM.app"))
  }

  @Test("testDisallowTokenGroupWrite")
  func tokenGroup() {
    #expect(
      statuses(["com.apple.token"], inGroup("com.apple.token"))
        == [errSecItemNotFound, errSecMissingEntitlement, errSecMissingEntitlement])
  }

  @Test("testEntitlementForExplicitAccessGroupLacking")
  func explicitGroup() {
    let refused = [OSStatus](repeating: errSecMissingEntitlement, count: 3)
    #expect(statuses(["app"], inGroup("other")) == refused)
    let change: Place.Pairs = [kSecAttrLabel: "new"]
    #expect(place.update(inGroup("other"), change) == errSecMissingEntitlement)
    let move: Place.Pairs = [kSecAttrAccessGroup: "other"]
    #expect(place.update(label, move) == errSecMissingEntitlement)
  }

  @Test("testEntitlementForImplicitAccessGroupLacking")
  func implicitGroup() {
    let both = Caller(accessGroups: ["app", "shared"])
    KeychainModel.$caller.withValue(both) {
      #expect(place.add(inGroup("shared")) == errSecSuccess)
    }
    KeychainModel.$caller.withValue(Caller(accessGroups: ["app"])) {
      #expect(place.copy(label).status == errSecItemNotFound)
      #expect(place.update(label, [kSecAttrLabel: "new"]) == errSecItemNotFound)
      #expect(place.delete(label) == errSecItemNotFound)
    }
    KeychainModel.$caller.withValue(both) {
      #expect(place.update(label, [kSecAttrLabel: "new"]) == errSecSuccess)
      #expect(place.delete(label) == errSecItemNotFound)
    }
  }
}
