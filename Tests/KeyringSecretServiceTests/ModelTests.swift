// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import StorageModel
import Testing

/// A comparison of a keyring that is locked and unlocked now and then with a storage in memory.
@Suite(
  .inPrivateSession, .tags(.stress),
  .only(on: .gnomeKeyring, "locks and unlocks a collection as only gnome-keyring's own tools can"))
struct ModelTests {
  @Test func `the keyring agrees with a storage in memory`() throws {
    try PasswordCollection.whileThere { collection, keyring in
      var run = ModelRun()
      try run.expectAgreement { random in
        if random.oneIn(40) {
          // The keyring has only the content of its file then.
          try keyring.lock()
          try collection.unlock()
        }
        return keyring
      }
    }
  }
}

/// The same comparison on a keyring that nobody knows, where replaced items stay for a while.
@Suite(.withOwnKeyring) struct UnknownProviderModelTests {
  @Test(.tags(.slow)) func `an unknown keyring agrees with a storage in memory`() throws {
    let bus = try PrivateBus()
    let service = try FakeService(on: bus, modes: FakeService.Mode.oo7, disk: FakeService.Disk())
    var run = ModelRun()
    try run.expectAgreement { random in
      if random.oneIn(40) { try service.restart() }
      try service.quiet()
      return bus.storage()
    }
  }
}
#endif
