// SPDX-License-Identifier: Apache-2.0

#if SecretService && Sealing && os(Linux)
import Foundation
import Keyring
import KeyringFile
import KeyringSealing
import KeyringStorage
import KeyringTesting
import Testing

@testable import KeyringSecretService

/// The Secret portal as a source of a key, with portals that misbehave.
@Suite(.withOwnKeyring) struct SecretPortalTests {
  private let bus: PrivateBus
  private let directory = TemporaryDirectory()
  private var tokenFile: String { directory.path("data/token") }

  init() throws { bus = try PrivateBus() }

  private func source(
    _ timeout: Duration = .seconds(60), tokenFile: String? = nil
  ) -> KeySource {
    .secretPortal(
      tokenFile: tokenFile,
      options: .init(
        serviceTimeout: timeout, promptTimeout: .zero, busAddress: bus.address))
  }

  private func portal(_ behavior: String) throws -> Program {
    let program = try Program.script("fake-portal.py", [behavior], environment: bus.environment)
    try #require(program.readLine() == "ready", "the fake portal did not start")
    return program
  }

  private func request(_ purpose: KeyRequest.Purpose = .opening) -> KeyRequest {
    KeyRequest(purpose, for: "file x", backendName: "test")
  }

  @Test func `a secret that comes in parts is complete`() async throws {
    let portal = try portal("parts")
    let secret = try await source().secret(for: request())
    #expect(secret.text == "the secret that is the same for the app each time")
    try portal.end()
  }

  #if EncryptedFile
  @Test func `a file with the portal's key keeps the contract`() throws {
    let portal = try portal("parts")
    for rule in StorageContract.cases(for: EncryptedFileStorage.self) {
      let (file, source) = (directory.path("secrets"), source())
      try rule.verify(
        EncryptedFileStorage(at: file, key: source),
        restart: { _ in EncryptedFileStorage(at: file, key: source) })
    }
    try portal.end()
  }
  #endif

  @Test func `a token is kept for the next request`() async throws {
    let portal = try portal("token")
    let source = source(tokenFile: tokenFile)
    let secret = try await source.secret(for: request(.creation))
    #expect(try await source.secret(for: request()) == secret)
    // Another source with the same file finds the secret, too.
    #expect(try await self.source(tokenFile: tokenFile).secret(for: request()) == secret)
    // The token matters: without it, the portal gives another secret.
    try directory.remove("data/token")
    #expect(try await source.secret(for: request()) != secret)
    try portal.end()
  }

  @Test func `requests at the same time get one secret`() async throws {
    let portal = try portal("token")
    let (source, request) = (source(tokenFile: tokenFile), request(.creation))
    async let first = source.secret(for: request)
    async let second = source.secret(for: request)
    #expect(try await first == second)
    #expect(try await source.secret(for: request) == first)
    try portal.end()
  }

  @Test func `a token that can't be read asks for no other secret`() async throws {
    let portal = try portal("token")
    try directory.makeDirectory("data")
    try directory.write([0xFF], "data/token")
    await expectError(.damaged) { try await source(tokenFile: tokenFile).secret(for: request()) }
    #expect(try directory.bytes("data/token") == [0xFF])
    #expect(try portal.end().isEmpty)
  }

  @Test func `a token that can't be kept is an error`() async throws {
    let portal = try portal("token")
    for (file, code) in [
      (nil, SecureStorageError.Code.noStorage), ("/proc/nowhere/token", .other),
    ] {
      await expectError(code) {
        try await source(tokenFile: file).secret(for: request(.creation))
      }
    }
    try portal.end()
  }

  @Test(
    arguments: [
      ("decline", SecureStorageError.Code.userCanceled), ("fail", .locked), ("type", .locked),
      // The signal of another program isn't the portal's answer.
      ("forge", .userCanceled), ("short", .invalidArgument), ("leave", .connectionLost),
      ("none", .keyNotFound),
    ])
  func `a portal that gives no key causes an error`(
    _ behavior: String, _ code: SecureStorageError.Code
  ) async throws {
    let portal = try portal(behavior)
    let error = await expectError(code) { try await source().secret(for: request()) }
    #expect(error?.backendName == "test")
    try portal.end()
  }

  @Test(arguments: ["wait", "mute", "open"])
  func `a portal that doesn't finish is given up`(_ behavior: String) async throws {
    let portal = try portal(behavior)
    await expectError(.timedOut) { try await source(.milliseconds(300)).secret(for: request()) }
    try portal.end()
  }

  @Test func `a cancelled task gives the request up`() async throws {
    let portal = try portal("wait")
    let (source, request) = (source(), request())
    let task = Task { try await source.secret(for: request) }
    #expect(try await portal.nextLine() == "asked")
    task.cancel()
    await expectError(.canceled) { try await task.value }
    try portal.end()
  }

  @Test func `an inspection asks for nothing`() async throws {
    let portal = try portal("parts")
    await expectError(.locked) { try await source().secret(for: request(.inspection)) }
    #expect(try portal.end().isEmpty)
  }

  @Test func `a missing bus and a missing portal are told apart`() async throws {
    await expectError(.keyNotFound) { try await source().secret(for: request(.inspection)) }
    try bus.kill()
    await expectError(.noSessionBus) { try await source().secret(for: request()) }
  }
}
#endif
