// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import AppleKeychainModel
import KeyringApple
import KeyringStorage
import StorageModel
import TestPrograms
import Testing

/// A comparison of two programs' storages on one device with one in memory.
@Suite(.tags(.stress)) struct ModelTests {
  @Test(arguments: zip(TestKeychain.allCases, Faults.positions + [Faults.positions[1]]))
  func `a keychain agrees with a storage in memory`(
    keychain: TestKeychain, faults: Faults
  ) throws {
    let device = KeychainModel()
    device.faults = faults
    // The keys name any group, and the keychain has only the program's own.
    let program = keychain.program(accessGroups: ["TEAM.app"] + EdgeCaseStrings.valid)
    var storages = [program, program].map { keychain.storage(on: device, for: $0) }
    var run = ModelRun()
    try run.expectAgreement { random in
      let index = Int.random(in: storages.indices, using: &random)
      if random.oneIn(10) { storages[index] = keychain.storage(on: device, for: program) }
      return storages[index]
    }
    #expect(device.prompts.isEmpty)
  }
}
#endif
