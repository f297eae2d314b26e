// SPDX-License-Identifier: Apache-2.0

#if SecretService && EncryptedFile && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import Testing

/// The platform's default storage in a sandbox, with the desktop's real portal.
@Suite(.withOwnKeyring, .withSandbox) struct SandboxTests {
  private let bus: PrivateBus
  private let keyring: GnomeKeyring
  private let portal: DesktopPortal

  init() throws {
    (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0) }
    portal = try DesktopPortal(on: bus)
  }

  private var itemsOfApp: [SecureItem] {
    get throws { try bus.storage().items(matching: .service("org.example.SecureSettings")) }
  }

  @Test func `an app without permission keeps its secrets in a file of its own`() throws {
    let app = try SandboxedApp(on: bus)
    #expect(try app.run("sign-in").status == 0)
    let (status, text) = try app.run("show")
    #expect(status == 0 && text.contains("account       ada@example.org"))
    #expect(try app.files == ["swift-keyring/secrets", "swift-keyring/selection"])
    #expect(try itemsOfApp.isEmpty)
  }

  @Test func `another app cannot open the file`() throws {
    let app = try SandboxedApp(on: bus)
    #expect(try app.run("sign-in").status == 0)
    let other = try SandboxedApp(on: bus, name: "org.example.Other")
    let (status, text) = try other.run("show", data: app.data)
    #expect(status == 1 && text.contains("was encrypted with another key"), "\(text)")
  }

  @Test func `an app with permission uses the user's keyring`() throws {
    let app = try SandboxedApp(on: bus)
    try app.allow("org.freedesktop.portal.*", "org.freedesktop.secrets", on: bus)
    #expect(try app.run("sign-in").status == 0)
    #expect(try app.files == ["swift-keyring/selection"])
    #expect(try itemsOfApp.count == 4)

    // Without the permission, the app doesn't use a file instead.
    try app.allow("org.freedesktop.portal.*", on: bus)
    let (status, text) = try app.run("show")
    #expect(status == 1 && text.contains("keeps its secrets in SecretServiceStorage"), "\(text)")
    #expect(try app.run("sign-in").text.contains("selectedStorageMissing"))
    #expect(try app.files == ["swift-keyring/selection"])
  }

  @Test func `a permission that comes later changes nothing, and is reported`() throws {
    let app = try SandboxedApp(on: bus)
    #expect(try app.run("sign-in").status == 0)
    try app.allow("org.freedesktop.portal.*", "org.freedesktop.secrets", on: bus)
    let (status, text) = try app.run("show")
    #expect(status == 0 && text.contains("account       ada@example.org"))
    #expect(text.contains("as remembered, though SecretServiceStorage could be used"), "\(text)")
    #expect(try itemsOfApp.isEmpty)
  }

  @Test func `the secrets can be moved when the permission comes`() throws {
    let app = try SandboxedApp(on: bus)
    #expect(try app.run("sign-in").status == 0)
    let before = try app.run("use-keyring").text
    #expect(try itemsOfApp.isEmpty, "there is no permission yet")
    try app.allow("org.freedesktop.portal.*", "org.freedesktop.secrets", on: bus)
    let (status, text) = try app.run("use-keyring")
    #expect(status == 0 && text.hasSuffix(before), "\(before)\n\(text)")
    #expect(try itemsOfApp.count == 4)
    // From now on, the app uses the keyring, and doesn't mention the file.
    let (next, later) = try app.run("show")
    #expect(next == 0 && later == before, "\(later)")
    #expect(try app.run("sign-out").status == 0)
    #expect(try itemsOfApp.isEmpty)
  }

  @Test func `the user is asked to unlock the keyring that has the key`() throws {
    let app = try SandboxedApp(on: bus)
    #expect(try app.run("sign-in").status == 0)
    try bus.storage().lock()
    let prompter = try Prompter(.password(GnomeKeyring.typedPassword), on: bus)
    let (status, text) = try app.run("show")
    #expect(status == 0 && text.contains("account       ada@example.org"), "\(text)")
    #expect(try prompter.finish() == 1)
  }

  @Test func `a user who declines is asked again by the next use`() throws {
    let app = try SandboxedApp(on: bus)
    #expect(try app.run("sign-in").status == 0)
    try bus.storage().lock()
    let prompter = try Prompter(.dismiss, .dismiss, .dismiss, .dismiss, on: bus)
    let (status, text) = try app.run("show")
    #expect(status == 1 && text.contains("Unlock the user's keyring"), "\(text)")
    #expect(try prompter.finish() == 4)
    #expect(try app.files == ["swift-keyring/secrets", "swift-keyring/selection"])
  }
}

@Suite(.withOwnKeyring, .withSandbox) struct SandboxWithoutPortalTests {
  @Test func `the error names the portal`() throws {
    let bus = try PrivateBus()
    let app = try SandboxedApp(on: bus)
    let (status, text) = try app.run("show")
    #expect(status == 1 && text.contains("The desktop has no Secret portal"), "\(text)")
    #expect(text.contains("org.freedesktop.impl.portal.Secret"))
    #expect(try app.files.isEmpty)
  }
}
#endif
