// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import AppleKeychainModel
import KeyringApple
import StandInKeychain

/// The keychains in which a test runs.
enum TestKeychain: CaseIterable {
  case dataProtection
  case synchronizable
  case fileBased

  var keychain: AppleKeychainStorage.Keychain {
    switch self {
    case .dataProtection: .dataProtection()
    case .synchronizable: .dataProtection(synchronizable: true)
    case .fileBased: .fileBased
    }
  }

  func storage(on device: KeychainModel, for program: Caller = Caller()) -> AppleKeychainStorage {
    AppleKeychainStorage(keychain, on: device, for: program)
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
