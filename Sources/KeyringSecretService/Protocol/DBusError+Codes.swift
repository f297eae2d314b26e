// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import CKeyringLibSecret

extension DBusError {
  /// The error code for a failure while connecting to the bus.
  ///
  /// It's `.noSessionBus` if nothing listens at the address, or another user's bus does. Too many open files of the
  /// program, or connections of the bus, say nothing about the contents of the keyring. Some buses accept a connection
  /// above their limit, and close it at once.
  var codeWhileConnecting: SecureStorageError.Code {
    if let isOfMissingLibrary { return isOfMissingLibrary ? .noProvider : .other }
    if self === DBusError.networkAddress { return .notEncrypted }
    if refusesUser { return .noSessionBus }
    if let bus {
      let code = ioCode == G_IO_ERROR_FAILED ? .connectionLost : codeWhileCalling
      return code == .connectionLost && bus == .anotherUser ? .noSessionBus : code
    }
    // The address asks for a program that starts a bus, such as dbus-launch, and it can't be run.
    if domain == "g-exec-error-quark" { return .noSessionBus }
    return switch ioCode {
    case G_IO_ERROR_FAILED, G_IO_ERROR_NOT_FOUND, G_IO_ERROR_NOT_DIRECTORY,
      G_IO_ERROR_INVALID_ARGUMENT, G_IO_ERROR_PERMISSION_DENIED, G_IO_ERROR_NOT_SUPPORTED,
      G_IO_ERROR_HOST_NOT_FOUND, G_IO_ERROR_CONNECTION_REFUSED:
      .noSessionBus
    default: codeWhileCalling
    }
  }

  /// `true` for a bus that refused the user, whose ID is another one in a user namespace.
  ///
  /// Only an ID that is mapped there can even be sent.
  var refusesUser: Bool {
    bus != nil
      && (ioCode == G_IO_ERROR_INVALID_ARGUMENT
        || ioCode == G_IO_ERROR_FAILED && text.contains("EXTERNAL"))
  }

  /// The error code for a failure while finding or starting the service, or opening a session with it.
  var codeWhileOpening: SecureStorageError.Code {
    let isInstalled = remoteName?.hasPrefix("org.freedesktop.DBus.Error.Spawn.") == true
    return isInstalled ? .providerFailed : code(whenProviderIsGone: .noProvider)
  }

  /// The error code for a failure while a message to the provider was in progress.
  var codeWhileCalling: SecureStorageError.Code {
    remoteName == Provider.errorOfEndedService
      ? .connectionLost : code(whenProviderIsGone: .connectionLost)
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
    case Provider.errorOfLockedObject:
      return .locked
    case nil:
      switch ioCode {
      case G_IO_ERROR_TIMED_OUT: return .timedOut
      case G_IO_ERROR_CANCELLED: return .canceled
      case G_IO_ERROR_CLOSED, G_IO_ERROR_BROKEN_PIPE: return .connectionLost
      default: return .other
      }
    default:
      return .other
    }
  }

  /// `true` for a secret that the provider can't decrypt with its session's key.
  var refusesSession: Bool { remoteName == Provider.errorOfUnusableSession }

  /// `true` for a message that no program could receive.
  var isWithoutReceiver: Bool {
    remoteName == "org.freedesktop.DBus.Error.ServiceUnknown"
      || remoteName == "org.freedesktop.DBus.Error.NameHasNoOwner"
  }

  /// Returns `true` for a message to a missing object.
  ///
  /// Items and collections come and go.
  func isUnknownObject(of message: MethodCall) -> Bool {
    // A service that doesn't know the method is at fault.
    !message.isForService && remoteName.map(Provider.errorsOfMissingObjects.contains) == true
  }

  /// `true` for an argument that the provider rejected.
  var isInvalidArgument: Bool { remoteName == "org.freedesktop.DBus.Error.InvalidArgs" }

  /// Returns `true` for a message that was refused because of something deleted or locked.
  ///
  /// A closer look is needed then.
  func isRefusal(of message: MethodCall) -> Bool {
    if message.isSearch { return remoteName == Provider.errorOfLockedObject }
    return message.readsSecrets
      && remoteName.map(Provider.refusalsToReadSecrets.contains) == true
  }

  private var ioCode: GIOErrorEnum? {
    guard domain == Self.ioDomain else { return nil }
    // Another program can send an error with any number.
    return GIOErrorEnum(rawValue: UInt32(truncatingIfNeeded: code))
  }
}
#endif
