// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import CKeyringLibSecret
internal import KeyringRuntime

/// A failure of a call on the bus, before its meaning for the operation is known.
///
/// It's a class because a waiting task reserves space for an error in many frames.
final class DBusError: Error {
  /// The name of GLib's error domain.
  let domain: String
  let code: Int
  let text: String
  /// The D-Bus name of the error, if it came from another program on the bus.
  let remoteName: String?
  /// The owner of the bus that accepted the connection before the failure, if one did.
  let bus: Owner?
  /// The shortage because of which the call wasn't made, if that's the reason.
  let shortage: Shortage?

  enum Owner {
    case thisUser
    case anotherUser
  }

  /// Creates an error from one that a GLib function has set, and frees that one.
  convenience init(adopting error: UnsafeMutablePointer<GError>?) {
    guard let error else {
      self.init(domain: "glib", code: 0, text: "the call failed, and there is no reason for it")
      return
    }
    defer { g_error_free(error) }
    let remote = g_dbus_error_get_remote_error(error)
    defer { g_free(remote) }
    g_dbus_error_strip_remote_error(error)
    self.init(
      domain: String(cString: g_quark_to_string(error.pointee.domain)),
      code: Int(error.pointee.code),
      text: String(cString: error.pointee.message),
      remoteName: remote.map { String(cString: $0) })
  }

  init(
    domain: String, code: Int, text: String, remoteName: String? = nil, bus: Owner? = nil,
    shortage: Shortage? = nil
  ) {
    self.domain = domain
    self.code = code
    self.text = text
    self.remoteName = remoteName
    self.bus = bus
    self.shortage = shortage
  }

  convenience init(_ shortage: Shortage) {
    let cause = shortage.underlying
    self.init(domain: cause.domain, code: cause.code, text: cause.text, shortage: shortage)
  }

  /// Calls a GLib function, and throws the error that it sets if it fails.
  ///
  /// - Parameter body: A closure that calls the function with the place for the error, and returns its
  ///   result, which is `nil` if the function fails.
  /// - Returns: The result of the function.
  /// - Throws: The error that the function has set.
  static func check<Result>(
    _ body: (inout UnsafeMutablePointer<GError>?) -> Result?
  ) throws(DBusError) -> Result {
    var error: UnsafeMutablePointer<GError>?
    guard let result = body(&error) else { throw DBusError(adopting: error) }
    return result
  }

  /// Returns the error of a bus that accepted the connection before.
  func on(_ bus: Owner) -> DBusError {
    DBusError(
      domain: domain, code: code, text: text, remoteName: remoteName, bus: bus, shortage: shortage)
  }

  static let timedOut = DBusError(G_IO_ERROR_TIMED_OUT, "no answer before the deadline")
  static let canceled = DBusError(G_IO_ERROR_CANCELLED, "the task was cancelled")

  static let noAddress = DBusError(
    G_IO_ERROR_NOT_FOUND,
    "DBUS_SESSION_BUS_ADDRESS isn't set, and there is no bus in XDG_RUNTIME_DIR")

  static let networkAddress = DBusError(
    G_IO_ERROR_NOT_SUPPORTED, "a connection over the network isn't encrypted")

  static let noConnection = DBusError(G_IO_ERROR_CLOSED, "there is no connection to the bus")

  /// Returns the error for an answer of a method that has another type than it should have.
  static func otherType(
    _ answer: Variant, of method: String, insteadOf type: StaticString
  ) -> DBusError {
    DBusError(
      G_IO_ERROR_INVALID_ARGUMENT,
      "\(method) answered with type \(answer.type) instead of \(type)")
  }

  /// Returns the error for libraries that can't be loaded.
  ///
  /// - Parameters:
  ///   - text: The reason, in the words of the system.
  ///   - isMissing: `true` for libraries that must be installed first.
  /// - Returns: The error.
  static func libraryFailed(_ text: String, isMissing: Bool) -> DBusError {
    DBusError(domain: loader, code: isMissing ? 1 : 0, text: text)
  }

  private static let loader = "dlopen"

  /// `true` for a missing library, `false` for one that can't be loaded, or `nil` for another failure.
  var isOfMissingLibrary: Bool? { domain == Self.loader ? code == 1 : nil }

  /// The name of GIO's error domain, which is known without GIO.
  static let ioDomain = "g-io-error-quark"

  private convenience init(_ code: GIOErrorEnum, _ text: String) {
    self.init(domain: Self.ioDomain, code: Int(code.rawValue), text: text)
  }

  var underlying: SecureStorageError.Underlying {
    SecureStorageError.Underlying(domain: remoteName ?? domain, code: code, text: text)
  }
}
#endif
