// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import AppleKeychainModel
import KeyringApple
import StandInKeychain

/// The keychains in which a test runs.
enum TestKeychain: CaseIterable {
  case dataProtection
  /// The same on iOS, which refuses what macOS leaves out of a query.
  case phone
  case synchronizable
  case fileBased

  var keychain: AppleKeychainStorage.Keychain {
    switch self {
    case .dataProtection, .phone: .dataProtection()
    case .synchronizable: .dataProtection(synchronizable: true)
    case .fileBased: .fileBased
    }
  }

  /// Returns a program on the system that has the keychain.
  func program(_ name: String = "app", accessGroups: [String] = ["TEAM.app"]) -> Caller {
    Caller(name, accessGroups: accessGroups, platform: self == .phone ? .iOS : .macOS)
  }

  func storage(on device: KeychainModel, for program: Caller? = nil) -> AppleKeychainStorage {
    AppleKeychainStorage(keychain, on: device, for: program ?? self.program())
  }
}

extension Faults {
  /// The positions of the switches for what nobody knows, each at least once in both.
  static let positions: [Faults] = EmptyUpdate.allCases.map { emptyUpdate in
    var faults = Faults()
    faults.emptyFileUpdate = emptyUpdate
    faults.attributesNeverAsk = emptyUpdate == .refused
    faults.addNeverAsks = emptyUpdate != .stores
    faults.looksAbsentBeforeFirstUnlock = emptyUpdate == .refused
    return faults
  }
}

extension AppleKeychainStorage {
  /// A storage on a simulated device.
  init(
    _ keychain: Keychain = .dataProtection(), on device: KeychainModel,
    for program: Caller = Caller()
  ) {
    self.init(keychain, calls: StandInKeychain(device, program))
  }
}
#endif
