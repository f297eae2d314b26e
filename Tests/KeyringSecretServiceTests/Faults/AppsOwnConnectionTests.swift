// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import AppLibSecret
import Keyring
import KeyringStorage
import Testing

/// An app that uses D-Bus and libsecret itself, in the same process.
///
/// The app keeps everything that it has opened until it exits. A sanitizer would report a leak.
@Suite(.withOwnKeyring, .tags(.unsanitized)) struct AppsOwnConnectionTests {
  // The test has a process of its own, because it kills the session bus.
  @Test func `the connection and the main loop of an app are left alone`() async throws {
    await #expect(processExitsWith: .success) {
      let bus = try PrivateBus()
      setenv("DBUS_SESSION_BUS_ADDRESS", bus.address, 1)
      let keyring = try GnomeKeyring(on: bus)

      var error: UnsafeMutablePointer<GError>?
      let connection = try #require(g_bus_get_sync(G_BUS_TYPE_SESSION, nil, &error))
      let service = try #require(secret_service_get_sync(SECRET_SERVICE_OPEN_SESSION, nil, &error))
      // Only the app's main loop may run this, and it never runs here.
      let idle = g_idle_add({ _ in fatalError("somebody else ran the app's main loop") }, nil)

      let storage = SecretServiceStorage()
      for use in [StorageUse.save, .read, .find, .lock] { try use(storage) }
      StorageUse.unlock.expectFailure(.locked, storage)
      try keyring.kill()
      try openSession().waitForEndOfProvider()
      StorageUse.read.expectFailure(.noProvider, storage)
      try keyring.start()
      #expect(try storage.password(for: StorageUse.key) == "s3cret")

      #expect(g_dbus_connection_is_closed(connection) == 0)
      #expect(g_bus_get_sync(G_BUS_TYPE_SESSION, nil, &error) == connection)
      #expect(secret_service_get_sync(SECRET_SERVICE_OPEN_SESSION, nil, &error) == service)
      #expect(g_main_context_get_thread_default() == nil)
      let answer = g_dbus_connection_call_sync(
        connection, "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetId", nil, nil,
        G_DBUS_CALL_FLAGS_NONE, -1, nil, &error)
      #expect(answer != nil)

      // The bus dies. The app has chosen to go on, and the storage goes on too.
      g_dbus_connection_set_exit_on_close(connection, 0)
      try bus.kill()
      try openSession().waitForEndOfBus()
      StorageUse.read.expectFailure(.noSessionBus, storage)
      try bus.start()
      try keyring.kill()
      try keyring.start()
      #expect(try storage.password(for: StorageUse.key) == "s3cret")
      g_source_remove(idle)
    }
  }

  @Test func `an app that does not use D-Bus itself outlives the bus`() async throws {
    await #expect(processExitsWith: .success) {
      let bus = try PrivateBus()
      setenv("DBUS_SESSION_BUS_ADDRESS", bus.address, 1)
      let keyring = try GnomeKeyring(on: bus)
      try StorageUse.save(SecretServiceStorage())
      try bus.kill()
      try openSession().waitForEndOfBus()
      StorageUse.read.expectFailure(.noSessionBus, SecretServiceStorage())
      try keyring.kill()
    }
  }
}
#endif
