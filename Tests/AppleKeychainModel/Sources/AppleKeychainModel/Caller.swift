// SPDX-License-Identifier: Apache-2.0

/// A simulated program: whose items it owns in a file, and which access groups it was entitled to.
public struct Caller: Sendable {
  /// The name by which the file-based keychain's access lists know it.
  public var name: String
  /// Its access groups, the default one first.
  ///
  /// None: a program without an entitlement.
  public var accessGroups: [String]
  /// The system it runs on.
  public var platform: Platform
  /// The team that signed it, or the hash of an unsigned build: an entry of a file's partition lists.
  public var team: String
  /// Its entry in a file's lists of trusted programs: the signed program, or the hash of an unsigned build.
  var identity: [String]
  /// Indicates that its signature confirms its application identifier.
  public var isConfirmed = true

  /// Makes a program, by default one on macOS with one access group.
  public init(
    _ name: String = "app", accessGroups: [String] = ["TEAM.app"], platform: Platform = .macOS,
    team: String = "TEAM", hash: String? = nil
  ) {
    self.name = name
    self.accessGroups = accessGroups
    self.platform = platform
    self.team = hash ?? team
    identity = hash.map { [$0] } ?? [team, name]
  }

  static let tokenGroup = "com.apple.token"

  /// The groups a search may see.
  ///
  /// KeychainEntitlementsTest (testNoEntitlements): on macOS every program has the tokens' group,
  /// which is why a search without an entitlement finds nothing.
  var readableGroups: [String] {
    platform == .iOS ? accessGroups : accessGroups + [Self.tokenGroup]
  }

  /// The groups it may write.
  ///
  /// SecItemServer.c (SecurityClientCopyWritableAccessGroups), KeychainEntitlementsTest
  /// (testDisallowTokenGroupWrite): never the tokens'.
  var writableGroups: [String] { accessGroups.filter { $0 != Self.tokenGroup } }
}
