// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile && os(Linux)
import KeyringStorage
import StorageModel
import TestPrograms
import Testing

@testable import KeyringFile

/// A comparison of storages of one file, as two processes have them, with one in memory.
@Suite(.tags(.stress)) struct ModelTests {
  @Test func `two storages of one file agree with one in memory`() throws {
    let directory = TemporaryDirectory()
    let path = directory.path("secrets")
    var key = KeySource.cheap("the first")
    var storages = [key, key].map { EncryptedFileStorage(at: path, key: $0) }
    var run = ModelRun()
    try run.expectAgreement { random in
      let index = Int.random(in: storages.indices, using: &random)
      if random.oneIn(10) { storages[index] = EncryptedFileStorage(at: path, key: key) }
      if random.oneIn(40) {
        let number = Int.random(in: 0..<1000, using: &random)
        key =
          random.oneIn(2) ? .cheap("\(number)") : .keyFile(at: directory.path("key \(number)"))
        try storages[index].changeKey(to: key)
        storages[1 - index] = EncryptedFileStorage(at: path, key: key)
      }
      return storages[index]
    }
  }
}
#endif
