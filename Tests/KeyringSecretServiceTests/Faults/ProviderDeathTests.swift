// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Dispatch
import Keyring
import KeyringRuntime
import KeyringStorage
import Synchronization
import Testing

@testable import KeyringSecretService

/// Writes to a provider that dies at any moment.
///
/// Afterwards an item is there as before or after a write, and always as a whole.
@Suite(.inPrivateSession, .tags(.kills)) struct ProviderDeathTests {
  private let bus: PrivateBus
  private let provider: any MortalProvider

  init() throws {
    bus = try PrivateBus()
    provider = try Provider.current.startMortal(on: bus)
  }

  @Test func `every item is whole after the provider has died`() throws {
    let storage = bus.storage()
    let writers: [any MortalWriter] = [
      NewPasswords(storage), ChangedPassword(storage), ChangedLogin(storage),
    ]
    // A kill interrupts the write of a file more often if the write takes a while.
    for number in 0..<100 where Provider.current == .gnomeKeyring {
      try storage.setPassword("other", for: .password(service: "other", account: "\(number)"))
    }
    try unlessItCrashes { for writer in writers { try writer.write() } }
    var lost = 0
    for _ in 0..<Kills.count {
      lost += try killDuring(writers)
      try provider.start()
      try unlessItCrashes { for writer in writers { try writer.expectWhole() } }
      // No error stays.
      try unlessItCrashes { for writer in writers { try writer.write() } }
      try unlessItCrashes { for writer in writers { try writer.expectWhole() } }
    }
    print("\(Kills.count) kills of the keyring have met \(lost) calls")
    #expect(lost > 0)
    try unlessItCrashes {
      try storage.removeItems(matching: .service("service"))
      #expect(try storage.items(matching: .service("service")).isEmpty)
    }
  }

  /// Runs a closure, and runs it again if KeePassXC has crashed.
  ///
  /// KeePassXC 2.7.4 crashes when an item changes while it writes its file.
  private func unlessItCrashes(_ body: () throws -> Void) throws {
    for _ in 0..<10 where Provider.current == .keepassxc {
      do {
        return try body()
      } catch let error as SecureStorageError
        where error.code == .connectionLost || error.code == .noProvider
      {
        try provider.kill()
        try provider.start()
      }
    }
    try body()
  }

  /// Kills the provider while all writers write.
  ///
  /// - Returns: The number of writers that had a call under way.
  private func killDuring(_ writers: [any MortalWriter]) throws -> Int {
    let written = Atomic(0)
    let lost = Atomic(0)
    let group = DispatchGroup()
    for writer in writers {
      DispatchQueue(label: "writer").async(group: group) {
        // A writer writes until the provider is dead. The provider may also crash by itself.
        while (try? writer.write()) != nil { written.add(1, ordering: .relaxed) }
        lost.add(1, ordering: .relaxed)
      }
    }
    let enough = Int.random(in: 1...30)
    while written.load(ordering: .relaxed) < enough, lost.load(ordering: .relaxed) == 0 {}
    let moment = ContinuousClock.now + .microseconds(Int.random(in: 0..<3000))
    while ContinuousClock.now < moment {}
    try provider.kill()
    group.wait()
    return lost.load(ordering: .relaxed)
  }
}

/// A writer that knows the values that may be there after the provider has died.
private protocol MortalWriter: Sendable {
  func write() throws
  func expectWhole() throws
}

/// Whether an acknowledged write may still be lost.
private let mayForget = KnownLimitation.reason(.crashSafety) != nil

private final class NewPasswords: MortalWriter {
  private let storage: SecretServiceStorage
  /// A flag for each number, which is `true` if the password was acknowledged.
  private let passwords = Mutex<[Bool]>([])

  init(_ storage: SecretServiceStorage) { self.storage = storage }

  private func key(_ number: Int) -> ItemKey {
    .password(service: "service", account: "new \(number)")
  }

  func write() throws {
    let number = passwords.withLock { passwords in
      passwords.append(false)
      return passwords.count - 1
    }
    try storage.setPassword(
      "\(number)", for: key(number), mode: number % 2 == 0 ? .add : .addOrReplace)
    passwords.withLock { $0[number] = true }
  }

  func expectWhole() throws {
    let acknowledged = passwords.withLock { $0 }
    let found = try storage.items(for: acknowledged.indices.map(key), details: .secret)
    for number in acknowledged.indices {
      let text = found[key(number)]?.secret?.text
      if text == nil, mayForget || !acknowledged[number] { continue }
      #expect(text == "\(number)")
    }
    // A list shows the same items as a read.
    let listed = try storage.items(matching: .service("service", kind: .password, details: .secret))
    #expect(Set(listed.map(\.key)).isSuperset(of: found.keys))
    #expect(listed.allSatisfy { $0.secret?.text?.isEmpty == false })
    // The next passwords have the same keys, and find the remains of these.
    for number in acknowledged.indices where number % 3 > 0 { try storage.remove(key(number)) }
    for number in acknowledged.indices where number % 3 == 0 {
      try storage.setPassword("\(number)", for: key(number))
      try storage.remove(key(number))
    }
    passwords.withLock { $0 = [] }
  }
}

private final class ChangedPassword: MortalWriter {
  private let storage: SecretServiceStorage
  private let progress = Progress()
  private let key = ItemKey.value(service: "service", account: "changed")

  init(_ storage: SecretServiceStorage) { self.storage = storage }

  func write() throws {
    try progress.write { try storage[key, as: .secret].write(Secret("\($0)")) }
  }

  func expectWhole() throws {
    try progress.expect(storage.secret(for: key)?.text)
  }
}

private final class ChangedLogin: MortalWriter {
  private let storage: SecretServiceStorage
  private let progress = Progress()
  private let key = ItemKey.credentials(service: "service", label: "changed")

  init(_ storage: SecretServiceStorage) { self.storage = storage }

  func write() throws {
    try progress.write {
      try storage[key, as: .credential].write(Credential(login: "\($0)", password: "\($0)"))
    }
  }

  func expectWhole() throws {
    let credential = try storage[key, as: .credential].read()
    #expect(credential?.login == credential?.password)
    try progress.expect(credential?.password)
    #expect(try storage.items(matching: .key(key, details: .all)).count <= 1)
  }
}

/// The progress of a writer of numbers.
private final class Progress: Sendable {
  private struct State {
    var tried = 0
    var acknowledged = 0
  }
  private let state = Mutex(State())

  func write(_ body: (Int) throws -> Void) throws {
    let number = state.withLock { state in
      state.tried += 1
      return state.tried
    }
    try body(number)
    state.withLock { $0.acknowledged = number }
  }

  /// Expects the number that was acknowledged last, or one that was written after it.
  func expect(_ text: String?, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let (tried, acknowledged) = state.withLock { ($0.tried, $0.acknowledged) }
    // The first kill may make the provider forget a value that it hasn't saved before.
    if text == nil, mayForget { return }
    let number = try #require(
      text.flatMap(Int.init), "there is \(text ?? "nothing") after \(acknowledged) of \(tried)",
      sourceLocation: sourceLocation)
    #expect(
      ((mayForget ? 1 : acknowledged)...tried).contains(number), sourceLocation: sourceLocation)
    // From now on, this is the old value.
    state.withLock { $0.acknowledged = number }
  }
}
#endif
