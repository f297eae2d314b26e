// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import CKeyringLibSecret
internal import KeyringPlatform
internal import KeyringRuntime

/// The address of a bus, with the details for messages to people: the socket and its owner.
struct BusAddress {
  let text: String

  /// The path of the socket in the file system, or `nil` for an address of another kind.
  var socket: String? {
    guard text.hasPrefix("unix:") else { return nil }
    let parts = text.dropFirst("unix:".count).split(whereSeparator: { $0 == "," || $0 == ";" })
    return parts.first { $0.hasPrefix("path=") }.map { String($0.dropFirst("path=".count)) }
  }

  /// `true` for an address that leads over a network connection, or has one that does.
  ///
  /// D-Bus encrypts nothing, and proves the identity of neither side.
  var isOverNetwork: Bool {
    text.split(separator: ";").contains { $0.hasPrefix("tcp:") || $0.hasPrefix("nonce-tcp:") }
  }

  /// The ID of the socket's owner, or `nil` for an unknown one and for this program's user.
  ///
  /// A bus accepts only its own user.
  var foreignOwner: UInt32? {
    guard let socket, let owner = Self.owner(of: socket), owner != geteuid() else { return nil }
    return owner
  }

  /// Returns the ID of a file's owner, or `nil` for a missing file.
  ///
  /// If only the owner may look for it, that is the owner of its directory.
  private static func owner(of path: String) -> UInt32? {
    var status = stat()
    if stat(path, &status) == 0 { return status.st_uid }
    guard errno == EACCES, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
      return nil
    }
    return owner(of: String(path[..<slash]))
  }

  /// Returns the address of the session bus.
  ///
  /// It's in `DBUS_SESSION_BUS_ADDRESS`, or leads to the socket `bus` in `XDG_RUNTIME_DIR`. If there is
  /// neither, GLib would run `dbus-launch` on an X display. That starts a bus, which would have no keyring.
  static func ofSession() throws(DBusError) -> BusAddress {
    let directory = g_getenv("XDG_RUNTIME_DIR").map { String(cString: $0) }
    let isKnown =
      g_getenv("DBUS_SESSION_BUS_ADDRESS") != nil
      || directory.flatMap { owner(of: $0 + "/bus") } == geteuid()
    guard isKnown else { throw .noAddress }
    let address = try DBusError.check {
      g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SESSION, nil, &$0)
    }
    defer { g_free(address) }
    return BusAddress(text: String(cString: address))
  }

  /// `true` for the session bus that starts with the user's login.
  ///
  /// A program on another bus may have a keyring with files of its own.
  static var isOfLogin: Bool {
    guard let socket = (try? ofSession())?.socket else { return false }
    let directory = g_getenv("XDG_RUNTIME_DIR").map { String(cString: $0) }
    return [directory, directoryOfUser].contains { $0.map { $0 + "/bus" } == socket }
  }

  /// The directory of this user's bus, which a program of cron isn't told.
  private static var directoryOfUser: String { "/run/user/\(geteuid())" }

  /// Returns what to do without a session bus at the known address, or without an address.
  ///
  /// - Parameter address: The known address.
  /// - Returns: The suggestion, or `nil` without another bus.
  static func suggestion(insteadOf address: BusAddress?) -> String? {
    let socket = directoryOfUser + "/bus"
    if address?.socket != socket, owner(of: socket) == geteuid() {
      return """
        Set DBUS_SESSION_BUS_ADDRESS=unix:path=\(socket), where this user's bus is, for example in the crontab.
        """
    }
    guard let user = EnvironmentVariable.text("SUDO_UID"), user != "\(geteuid())" else {
      return nil
    }
    return """
      Run the program without sudo. The session bus and its keyring belong to user \(user.excerpt).
      """
  }
}
#endif
