// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringLibc

/// The address of a bus, with the details for messages to people: the socket and its owner.
struct BusAddress {
  let text: String

  /// The path of the socket in the file system, or `nil` if the address names none.
  var socket: String? {
    guard text.hasPrefix("unix:") else { return nil }
    let parts = text.dropFirst("unix:".count).split(whereSeparator: { $0 == "," || $0 == ";" })
    return parts.first { $0.hasPrefix("path=") }.map { String($0.dropFirst("path=".count)) }
  }

  /// The ID of the socket's owner, or `nil` if it's unknown or the user that this program runs as.
  ///
  /// A bus accepts only its own user.
  var foreignOwner: UInt32? {
    var status = stat()
    guard let socket, stat(socket, &status) == 0, status.st_uid != geteuid() else { return nil }
    return status.st_uid
  }
}
#endif
