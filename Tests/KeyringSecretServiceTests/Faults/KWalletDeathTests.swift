// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringRuntime
import KeyringStorage
import Synchronization
import Testing

@testable import KeyringSecretService

/// A KWallet that ends at any moment, by a crash or at a logout.
///
/// KWallet writes attributes at once, and secrets later. Nevertheless, each item has one of its own values
/// afterwards. It's absent only if it was absent before, or if none of its values was on disk.
///
/// The tests have no sanitizer, because they look at other processes, and wait for them.
@Suite(
  .inPrivateSession, .only(on: .kwallet, "needs Scripts/test --provider kwallet"),
  .tags(.kills, .unsanitized))
struct KWalletDeathTests {
  private let bus: PrivateBus
  private let wallet: KWallet
  private let storage: SecretServiceStorage

  init() throws {
    (bus, wallet) = try PrivateBus.with { try KWallet(on: $0) }
    storage = bus.storage()
  }

  @Test(arguments: [SIGKILL, SIGTERM])
  func `each item has a value of its own after the end of the wallet`(signal: Int32) throws {
    let items = MortalItems(in: storage, on: bus)
    var wrong = 0
    for number in 0..<Kills.count {
      // Half of the time, the items are on disk.
      if number.isMultiple(of: 2) {
        for _ in 0..<6 { try items.change() }
        try age(by: 100)
        try items.settle()
      }
      let writing = DispatchGroup()
      DispatchQueue(label: "items").async(group: writing) {
        while (try? items.change()) != nil {}
      }
      try end(signal, after: .milliseconds(Int.random(in: 0..<400)))
      writing.wait()
      try wallet.start()
      wrong += try items.expectOwnValues()
    }
    print("\(wrong) items of \(Kills.count) ends of the wallet had a wrong value")
  }

  @Test(arguments: [SIGKILL, SIGTERM])
  func `a login that two programs change is whole after the end of the wallet`(
    signal: Int32
  ) throws {
    let service = PrivateSession.newService()
    let key = ItemKey.credentials(service: service, label: "account")
    var onDisk = 1
    try storage[key, as: .credential].write(Credential(login: "1", password: "1"))
    try writeToDisk()
    var wrong = 0
    for number in 0..<Kills.count {
      var worker: Program? = try Program(
        Program.workerPath, ["rewrite", "default", service], environment: bus.environment,
        complaints: .nullDevice)
      try worker?.writeLine("go")
      _ = try worker?.readLine()
      let writing = DispatchGroup()
      DispatchQueue(label: "login").async(group: writing) { [storage, onDisk] in
        var value = onDisk
        func change() throws {
          value += 1
          try storage[key, as: .credential].write(
            Credential(login: "\(value)", password: "\(value)"))
        }
        while (try? change()) != nil {}
      }
      DispatchQueue(label: "other").async(group: writing) { [storage] in
        let other = ItemKey.password(service: service, account: "other")
        while (try? storage.setPassword("other", for: other)) != nil { usleep(20_000) }
      }
      try end(signal, after: .milliseconds(Int.random(in: 0..<400)))
      writing.wait()
      // Its end isn't awaited: it may be waiting for the keyring.
      worker = nil
      try wallet.start()
      let found = try storage[key, as: .credential].read()
      let value = found.flatMap { Int($0.login) } ?? 0
      #expect(found?.login == found?.password && value >= onDisk, "after end \(number)")
      if found?.login != found?.password || value < onDisk { wrong += 1 }
      onDisk = value
    }
    print("\(wrong) logins of \(Kills.count) ends of the wallet were wrong")
  }

  /// KWallet 5.103 to 6.30 write secrets when no program has written anything for five seconds.
  @Test func `a login that changes in a busy wallet is never lost`() throws {
    let key = ItemKey.credentials(service: PrivateSession.newService(), label: "account")
    let other = ItemKey.password(service: PrivateSession.newService(), account: "other")
    var values = [Credential(login: "0", password: "0")]
    try storage[key, as: .credential].write(values[0])
    try writeToDisk()
    for second in 0..<12 {
      if second.isMultiple(of: 2) { try storage.setPassword("\(second)", for: other) }
      if second.isMultiple(of: 10) {
        values.append(Credential(login: "\(second + 1)", password: "\(second + 1)"))
        try storage[key, as: .credential].write(values[values.count - 1])
      }
      // The age of the items is what counts.
      usleep(1_000_000)
    }
    try end(SIGKILL, after: .zero)
    try wallet.start()
    #expect(try storage[key, as: .credential].read().map(values.contains) == true)
  }

  @Test func `a replaced item stays until the wallet was quiet`() throws {
    let key = ItemKey.credentials(service: PrivateSession.newService(), label: "account")
    func change(_ login: String) throws -> Int {
      try storage[key, as: .credential].write(Credential(login: login, password: login))
      #expect(try storage[key, as: .credential].read()?.login == login)
      return try bus.search(key.attributes).count
    }
    #expect(try ["1", "2", "3", "4"].map(change) == [1, 2, 2, 2])
    // The password alone changes in place.
    try storage[key, as: .credential].write(Credential(login: "4", password: "new"))
    #expect(try bus.search(key.attributes).count == 2)
    try age(by: 100)
    try storage[key, as: .credential].write(Credential(login: "4", password: "newer"))
    #expect(try bus.search(key.attributes).count == 1)
    #expect(try ["5", "6"].map(change) == [2, 2])
    #expect(try storage.remove(key))
    #expect(try bus.search(key.attributes).isEmpty)
  }

  /// KWallet 5.103 to 6.30 keep the attributes and the times of an item whose secret isn't on disk.
  ///
  /// The item has just changed. ``ObservationRestartTests`` has older ones.
  @Test func `an observer is notified of an item that has lost its secret`() throws {
    let service = PrivateSession.newService()
    let keys = ["lost", "kept"].map { ItemKey.password(service: service, account: $0) }
    try storage.setPassword("kept", for: keys[1])
    try writeToDisk()
    try storage.setPassword("s3cret", for: keys[0])
    let log = try EventLog(of: storage, .key(keys[0]))
    let cached = storage.cached(for: nil)
    #expect(try cached.password(for: keys[0]) == "s3cret")
    try end(SIGKILL, after: .zero)
    try wallet.start()
    log.wait(for: .interrupted)
    log.wait(for: .changed(.replaced(keys[0])))
    for storage in [storage, cached] as [any SecureStorage] {
      #expect(try keys.map { try storage.password(for: $0) } == [nil, "kept"])
    }
    #expect(try bus.search(keys[0].attributes).count == 1)
    try storage.setPassword("another", for: keys[0])
    log.wait(for: .changed(.replaced(keys[0])))
    #expect(try cached.password(for: keys[0]) == "another")
  }

  // MARK: - The wallet

  /// Makes the wallet write everything to its file, as it does when it's closed.
  private func writeToDisk() throws {
    try storage.lock()
    try storage.unlock()
  }

  /// Ends the wallet after some time.
  private func end(_ signal: Int32, after time: Duration) throws {
    let process = try #require(try bus.providerProcess())
    usleep(UInt32(time / .microseconds(1)))
    #expect(Glibc.kill(process, signal) == 0)
    #expect(waitUntil { Glibc.kill(process, 0) != 0 })
    try wallet.kill()
  }

  /// Restarts the wallet with a file that says that everything was written some seconds earlier.
  private func age(by seconds: Int) throws {
    try storage.lock()
    let process = try #require(try bus.providerProcess())
    let environment = try String(contentsOfFile: "/proc/\(process)/environ", encoding: .utf8)
    let home = try #require(
      environment.split(separator: "\0").first { $0.hasPrefix("XDG_DATA_HOME=") })
    let file = URL(filePath: home.dropFirst("XDG_DATA_HOME=".count) + "/kwalletd")
      .appending(path: "kdewallet_attributes.json")
    try wallet.kill()
    // A time is the only text of ten digits.
    let attributes = try String(contentsOf: file, encoding: .utf8).replacing(#/"(\d{10})"/#) {
      "\"\((Int($0.output.1) ?? 0) - seconds)\""
    }
    try Data(attributes.utf8).write(to: file)
    try wallet.start()
  }
}

/// Items that a program changes in every way, and the values that each of them may have.
private final class MortalItems: Sendable {
  private struct State {
    var number = 0
    /// The values of each item since it was last read after a start of the wallet.
    var values: [ItemKey: [String?]] = [:]
  }

  private let storage: SecretServiceStorage
  private let address: String
  private let service = PrivateSession.newService()
  private let state = Mutex(State())

  init(in storage: SecretServiceStorage, on bus: PrivateBus) {
    self.storage = storage
    address = bus.address
  }

  private var login: ItemKey { .credentials(service: service, label: "login") }
  /// The keys of two items that have the same label.
  private var namesakes: [ItemKey] {
    ["alice", "bob"].map { .password(service: service, account: $0) }
  }
  private var renamed: ItemKey { .value(service: service, account: "renamed") }
  private var theirs: ItemKey { .password(service: service, account: "theirs") }

  private var keys: [ItemKey] { [login, renamed, theirs] + namesakes }

  /// Makes one change.
  func change() throws {
    switch Int.random(in: 0..<6) {
    case 0: try changeLogin(isNew: true)
    case 1: try changeLogin(isNew: false)
    case 2, 3: try replaceNamesake()
    case 4: try rename()
    default: try changeTheirs()
    }
  }

  private func changeLogin(isNew: Bool) throws {
    let last = try storage[login, as: .credential].read()
    let value = newValue()
    let name = isNew ? value : last?.login ?? value
    try write("\(name) \(value)", to: login) {
      try storage[login, as: .credential].write(Credential(login: name, password: value))
    }
  }

  /// Removes one item, and adds another one under the same label.
  private func replaceNamesake() throws {
    let keys = namesakes.shuffled()
    try write(nil, to: keys[0]) { try storage.remove(keys[0]) }
    let value = newValue()
    try write(value, to: keys[1]) {
      try storage.save(
        SecureItem(key: keys[1], secret: Secret(value), label: "shared"), mode: .addOrReplace)
    }
  }

  private func rename() throws {
    let old = try storage.secret(for: renamed)?.text
    let value = newValue()
    let secret = Bool.random() ? old ?? value : value
    let isLabelOnly = old != nil && secret == old
    try write(secret, to: renamed) {
      try storage.save(
        SecureItem(key: renamed, secret: isLabelOnly ? nil : Secret(secret), label: value),
        mode: .addOrReplace)
    }
  }

  /// Changes the secret and the attributes of an item, which another program has stored if it was absent.
  private func changeTheirs() throws {
    if try storage.password(for: theirs) == nil {
      // The other program can't tell that its secret never arrived.
      try write("", to: theirs) {}
      let value = newValue()
      try write(value, to: theirs) {
        try openSession(at: address).createItem(theirs.attributes, label: "theirs", secret: value)
      }
    }
    let value = newValue()
    try write(value, to: theirs) {
      try storage.save(
        SecureItem(key: theirs, secret: Secret(value), attributes: ["note": value]),
        mode: .addOrReplace)
    }
  }

  /// Returns a value that no other item has.
  private func newValue() -> String {
    state.withLock { state in
      state.number += 1
      return "\(state.number)"
    }
  }

  private func write(_ value: String?, to key: ItemKey, _ body: () throws -> Void) throws {
    state.withLock { $0.values[key, default: [nil]].append(value) }
    try body()
  }

  /// Records that the values that are there are on disk.
  func settle() throws {
    for key in keys {
      let value = try read(key)
      state.withLock { $0.values[key] = [value] }
    }
  }

  /// Expects one of its own values of each item, and returns the number of items with another one.
  func expectOwnValues() throws -> Int {
    var wrong = 0
    for key in keys {
      let value = try read(key)
      let values = state.withLock { $0.values[key] ?? [nil] }
      #expect(values.contains(value), "\(key)")
      if !values.contains(value) { wrong += 1 }
      state.withLock { $0.values[key] = [value] }
    }
    return wrong
  }

  private func read(_ key: ItemKey) throws -> String? {
    key == login
      ? try storage[key, as: .credential].read().map { "\($0.login) \($0.password)" }
      : try storage.secret(for: key)?.text
  }
}
#endif
