#if SecretService && os(Linux)
internal import Glibc

/// The address of a bus, for people: where it leads, and whose it is.
struct BusAddress {
  let text: String

  /// The socket in the file system that the address names, if it does.
  var socket: String? {
    guard text.hasPrefix("unix:") else { return nil }
    let parts = text.dropFirst("unix:".count).split(whereSeparator: { $0 == "," || $0 == ";" })
    return parts.first { $0.hasPrefix("path=") }.map { String($0.dropFirst("path=".count)) }
  }

  /// The user that the socket belongs to, when that is another than the one this program runs as: a
  /// bus takes its own user only.
  var foreignOwner: UInt32? {
    var status = stat()
    guard let socket, stat(socket, &status) == 0, status.st_uid != geteuid() else { return nil }
    return status.st_uid
  }
}
#endif
