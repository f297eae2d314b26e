// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import AppleKeychainModel
import KeyringApple
import KeyringStorage
import KeyringTesting
import TestPrograms
import Testing

@Suite(.tags(.threads)) struct ContractTests {
  @Test(
    .tags(.slow), arguments: StorageContract.cases(for: AppleKeychainStorage.self),
    TestKeychain.allCases)
  func `the storage keeps the contract`(rule: StorageContract, keychain: TestKeychain) throws {
    // The groups of the case that uses several, after the program's own.
    let program = keychain.program(accessGroups: ["TEAM.app", "group", "another group"])
    // Only the file takes the third position for another one than the second.
    for faults in Faults.positions.prefix(keychain == .fileBased ? 3 : 2) {
      let device = KeychainModel()
      device.faults = faults
      let storage = keychain.storage(on: device, for: program)
      try rule.verify(storage, restart: { _ in keychain.storage(on: device, for: program) })
      #expect(device.rows.isEmpty)
      #expect(device.prompts.isEmpty)
    }
  }
}
#endif
