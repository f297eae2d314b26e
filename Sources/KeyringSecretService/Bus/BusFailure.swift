#if SecretService && os(Linux)
internal import CLibSecret
internal import KeyringStorage

/// What a call on the bus failed with, before it is known what that means for the operation.
struct BusFailure: Error {
  /// The name of GLib's error domain.
  let domain: String
  let code: Int
  let text: String
  /// The D-Bus name of the error, when it came from another program on the bus.
  let remoteName: String?
  /// Whose bus had taken the connection before this, if one had.
  var bus: Owner?

  enum Owner {
    case thisUser
    case anotherUser
  }

  /// Takes over an error that a GLib function has set, and frees it.
  init(adopting error: UnsafeMutablePointer<GError>?) {
    guard let error else {
      self.init(domain: "glib", code: 0, text: "a call failed without saying why")
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

  init(domain: String, code: Int, text: String, remoteName: String? = nil) {
    self.domain = domain
    self.code = code
    self.text = text
    self.remoteName = remoteName
  }

  static let timedOut = BusFailure(G_IO_ERROR_TIMED_OUT, "no answer before the deadline")
  static let canceled = BusFailure(G_IO_ERROR_CANCELLED, "the task was cancelled")

  static let noConnection = BusFailure(G_IO_ERROR_CLOSED, "there is no connection to the bus")

  private init(_ code: GIOErrorEnum, _ text: String) {
    self.init(
      domain: String(cString: g_quark_to_string(g_io_error_quark())), code: Int(code.rawValue),
      text: text)
  }

  var underlying: SecureStorageError.Underlying {
    SecureStorageError.Underlying(domain: remoteName ?? domain, code: code, text: text)
  }
}

// MARK: - What it means

extension BusFailure {
  /// While the connection to the bus was being made.
  ///
  /// There is no bus only where the address leads to none, or to one that this program may not connect
  /// to, which is another user's. That the program has too many files open, or the bus too many
  /// connections, says nothing about what is in the keyring: dbus-broker takes a connection above its
  /// limit, and closes it at once.
  var codeWhileConnecting: SecureStorageError.Code {
    if let bus {
      let code = ioCode == G_IO_ERROR_FAILED ? .connectionLost : codeWhileCalling
      return code == .connectionLost && bus == .anotherUser ? .noSessionBus : code
    }
    return switch ioCode {
    case G_IO_ERROR_FAILED, G_IO_ERROR_NOT_FOUND, G_IO_ERROR_NOT_DIRECTORY,
      G_IO_ERROR_INVALID_ARGUMENT, G_IO_ERROR_PERMISSION_DENIED, G_IO_ERROR_NOT_SUPPORTED,
      G_IO_ERROR_HOST_NOT_FOUND, G_IO_ERROR_CONNECTION_REFUSED:
      .noSessionBus
    default: codeWhileCalling
    }
  }

  /// While the service was being looked for, started and a session opened with it.
  var codeWhileOpening: SecureStorageError.Code {
    let isInstalled = remoteName?.hasPrefix("org.freedesktop.DBus.Error.Spawn.") == true
    return isInstalled ? .providerFailed : code(whenProviderIsGone: .noProvider)
  }

  /// While a message to the provider was under way.
  var codeWhileCalling: SecureStorageError.Code {
    code(whenProviderIsGone: .connectionLost)
  }

  private func code(whenProviderIsGone gone: SecureStorageError.Code) -> SecureStorageError.Code {
    if isWithoutReceiver { return gone }
    switch remoteName {
    // The session was opened with a provider that has been restarted since.
    case "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Disconnected",
      "org.freedesktop.Secret.Error.NoSession", Provider.errorOfUnusableSession:
      return .connectionLost
    case "org.freedesktop.DBus.Error.AccessDenied", "org.freedesktop.DBus.Error.AuthFailed":
      return .accessDenied
    case "org.freedesktop.DBus.Error.Timeout", "org.freedesktop.DBus.Error.TimedOut":
      return .timedOut
    case Self.locked:
      return .locked
    case nil:
      switch ioCode {
      case G_IO_ERROR_TIMED_OUT: return .timedOut
      case G_IO_ERROR_CANCELLED: return .canceled
      case G_IO_ERROR_CLOSED, G_IO_ERROR_BROKEN_PIPE: return .connectionLost
      default: return .backend
      }
    default:
      return .backend
    }
  }

  /// Whether the provider could not decrypt a secret with its session's key.
  var refusesSession: Bool { remoteName == Provider.errorOfUnusableSession }

  /// Whether nobody was there to be sent the message.
  var isWithoutReceiver: Bool {
    remoteName == "org.freedesktop.DBus.Error.ServiceUnknown"
      || remoteName == "org.freedesktop.DBus.Error.NameHasNoOwner"
  }

  /// Whether what a message was for does not exist (any more): items and collections come and go.
  func isUnknownObject(of message: Message) -> Bool {
    // A service that knows no such method is at fault.
    !message.isForService && isUnknownObject
  }

  /// The D-Bus name of the error of a locked object.
  static let locked = "org.freedesktop.Secret.Error.IsLocked"

  /// Whether the provider did not take what it was given.
  var isInvalidArgument: Bool { remoteName == "org.freedesktop.DBus.Error.InvalidArgs" }

  /// Whether the object that the message was for does not exist (any more).
  private var isUnknownObject: Bool {
    remoteName.map(Provider.errorsOfMissingObjects.contains) == true
  }

  /// Tells whether this is a refusal of a message because something is gone or locked, so that a closer
  /// look is needed.
  func isRefusal(of message: Message) -> Bool {
    if message.isSearch { return remoteName == Self.locked }
    return message.readsSecrets
      && remoteName.map(Provider.refusalsToReadSecrets.contains) == true
  }

  private var ioCode: GIOErrorEnum? {
    guard domain == Self.timedOut.domain else { return nil }
    return GIOErrorEnum(rawValue: UInt32(code))
  }
}
#endif
