// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Keyring
import KeyringStorage
import KeyringTesting
import Observation
import TestPrograms
import Testing

/// A wrapper that an app writes for a type of its own.
@propertyWrapper
private struct Certificate: SecureProperty {
  struct Pin: Sendable, Equatable { var digits: [UInt8] }

  let projectedValue: StoredValue<Pin>

  init(_ account: String, service: String? = nil) {
    let coding = ItemCoding<Pin>(
      encode: { pin in
        if pin.digits.isEmpty { throw Refusal() }
        return Secret(bytes: pin.digits)
      },
      decode: { secret in
        let digits = secret.withUnsafeBytes { Array($0) }
        return digits.allSatisfy { $0 < 10 } ? Pin(digits: digits) : nil
      })
    projectedValue = StoredValue(account, as: coding, service: service)
  }

  var wrappedValue: Pin? {
    get { projectedValue.value }
    nonmutating set { projectedValue.value = newValue }
  }

  struct Refusal: Error {}
}

@Suite(.secureStorage())
struct OwnTypesTests {
  private struct Settings {
    @Certificate("pin") var pin: Certificate.Pin?
    @Password("token") var token: String?
  }

  private final class Model: Sendable {
    static let token = Password("token")
    let pin = Certificate("pin")
  }

  @Test func `a wrapper of an app keeps its own type`() throws {
    let settings = Settings()
    settings.pin = .init(digits: [1, 2, 3])
    #expect(settings.pin?.digits == [1, 2, 3])
    #expect(settings.$pin.failure == nil)
    let key = ItemKey.value(service: SecureStorageDefaults.service, account: "pin")
    #expect(settings.$pin.key == key)
    let storage = SecureStorageDefaults.currentStorage
    #expect(try storage[key, as: .secret].read() == Secret(bytes: [1, 2, 3]))
  }

  @Test func `what the type refuses is an error, and nothing is stored`() throws {
    let settings = Settings()
    settings.pin = .init(digits: [])
    #expect(settings.$pin.failure?.code == .invalidArgument)
    #expect(settings.$pin.failure?.message == "The value can't be encoded.")
    #expect(try !settings.$pin.exists())
    try SecureStorageDefaults.currentStorage[settings.$pin.key, as: .secret].write(Secret("text"))
    expectError(.undecodable) { try settings.$pin.read() }
    #expect(settings.pin == nil)
  }

  @Test func `the properties of a value include those of an app's wrappers and constants`() throws {
    struct Constants: SecurePropertyList {
      let pin = Certificate("pin")
      let token = Password("token")
      var secureProperties: [any SecureProperty] { [pin, token] }
    }
    let settings = Settings()
    settings.pin = .init(digits: [1])
    settings.token = "s3cret"
    for properties in [try SecureProperties(of: settings), try SecureProperties(of: Constants())] {
      let stored = properties.entries().filter(\.isStored).map(\.name)
      #expect(stored == ["pin", "token"])
    }
    let values = try SecureProperties(of: settings).readAll()
    #expect(try values[settings.$pin]?.digits == [1])
    #expect(try SecureProperties(of: Constants()).removeAll().count == 2)
    #expect(settings.pin == nil)
  }

  @Test func `a constant has the operations of a property`() throws {
    try Model.token.write("s3cret")
    #expect(try Model.token.read() == "s3cret")
    expectError(.itemAlreadyExists) { try Model.token.write("other", mode: .add) }
    let model = Model()
    #expect(try model.pin.readOrStore { .init(digits: [7]) }.digits == [7])
    #expect(try model.pin.exists() && model.pin.failure == nil)
    #expect(try model.pin.remove())
    #expect(try !model.pin.remove())
  }

  @Test func `data is kept as its own bytes`() throws {
    let (storage, data) = (InMemoryStorage(), Data([0, 0xff, 0x7b]))
    let key = ItemKey.value(service: "service", account: "account")
    try storage.setData(data, for: key, mode: .add)
    #expect(try storage.secret(for: key) == Secret(bytes: data))
    #expect(try storage.data(for: key) == data)
    #expect(try storage[key, as: .data].read() == data)
    try storage.setPassword("another program's text", for: key)
    #expect(try storage.data(for: key) == Data("another program's text".utf8))
    try storage.setData(nil, for: key)
    #expect(try storage.data(for: key) == nil)
  }

  @Test func `data is kept as its own bytes, for asynchronous code, too`() async throws {
    let (storage, data) = (InMemoryStorage(), Data([0, 0xff, 0x7b]))
    let key = ItemKey.value(service: "service", account: "account")
    try await storage.setData(data, for: key)
    #expect(try await storage.secret(for: key) == Secret(bytes: data))
    try await storage[key, as: .data].write(Data())
    #expect(try await storage.data(for: key) == Data())
  }

  @Test func `a handle of a storage writes to that storage alone`() throws {
    let storage = InMemoryStorage()
    let key = ItemKey.password(service: "service", account: "account")
    try storage[key].write("first")
    #expect(try storage[key].read() == "first")
    #expect(try storage[key, as: .secret].read() == Secret("first"))
    expectError(.itemNotFound) {
      try storage[.credentials(service: "service", label: "label"), as: .credential].write(
        Credential(login: "ada", password: "s3cret"), mode: .update)
    }
    #expect(try !SecureStorageDefaults.currentStorage.exists(key))
    #expect("\(storage[key])" == "\(key)")
  }

  @Test(.timeLimit(.minutes(1))) func `a reader by a handle is notified of a write by another one`()
    async throws
  {
    let key = ItemKey.password(service: "service", account: "account")
    for storage in [InMemoryStorage() as any SecureStorage, FaultyStorage(InMemoryStorage())] {
      let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
      withObservationTracking {
        #expect(throws: Never.self) { try storage[key].read() }
      } onChange: {
        continuation.yield()
      }
      try await storage[key].write("first")
      for await _ in changes { break }
      #expect(try await storage[key].read() == "first")
    }
  }
}
