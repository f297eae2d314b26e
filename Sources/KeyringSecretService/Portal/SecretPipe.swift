// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import CKeyringLibSecret
internal import KeyringPlatform

/// A pipe through which another program sends a secret.
final class SecretPipe {
  /// The largest size of a secret in bytes, which is far more than a key has.
  private static let largest = 1 << 16

  private let input: GLibReference
  /// The descriptors that a message takes along: the end of the pipe that the other program writes to.
  ///
  /// The pipe ends when every program has closed that end.
  private var output: GLibReference?

  /// Creates a pipe.
  ///
  /// - Throws: The error for too many open files of the process.
  init() throws(DBusError) {
    var ends: [Int32] = [-1, -1]
    var error: UnsafeMutablePointer<GError>?
    guard g_unix_open_pipe(&ends, FD_CLOEXEC, &error) != 0 else { throw DBusError(adopting: error) }
    input = .object(adopting: OpaquePointer(g_unix_input_stream_new(ends[0], 1)))
    let list = GLibReference.object(adopting: OpaquePointer(g_unix_fd_list_new()))
    // The list has a copy, which it closes.
    defer { close(ends[1]) }
    if g_unix_fd_list_append(UnsafeMutablePointer(list.pointer), ends[1], &error) < 0 {
      throw DBusError(adopting: error)
    }
    output = list
  }

  /// Sends a message that takes the end along that the receiver writes to, and waits for the answer.
  ///
  /// This process then has only the other end.
  func send(
    _ message: MethodCall, over connection: BusConnection, until deadline: Deadline
  ) async throws(DBusError) -> Variant {
    let output = self.output
    self.output = nil
    let result = try await CallLoop.result(
      until: deadline, connection.starting(message, to: nil, with: output))
    return try connection.answer(result, to: message).get()
  }

  /// Reads the secret until the other program closes the pipe.
  func secret(until deadline: Deadline) async throws(DBusError) -> Secret {
    var secret = Secret("")
    while true {
      let result = try await CallLoop.result(until: deadline) {
        [input] cancellable, callback, data in
        g_input_stream_read_bytes_async(
          UnsafeMutablePointer(input.pointer), 4096, G_PRIORITY_DEFAULT, cancellable, callback, data
        )
      }
      let part = try DBusError.check {
        g_input_stream_read_bytes_finish(
          UnsafeMutablePointer(input.pointer), result.pointer, &$0)
      }
      defer { g_bytes_unref(part) }
      var count: gsize = 0
      let address = UnsafeMutableRawPointer(mutating: g_bytes_get_data(part, &count))
      if count == 0 { return secret }
      let bytes = UnsafeMutableRawBufferPointer(start: address, count: Int(count))
      // Only this process has these bytes.
      defer { bytes.zeroize() }
      secret = secret.followed(by: UnsafeRawBufferPointer(bytes))
      guard secret.count <= Self.largest else {
        throw DBusError(domain: "swift-keyring", code: 0, text: "the secret is too large")
      }
    }
  }
}

extension BusConnection {
  /// The name that the bus has given to this connection.
  var uniqueName: String {
    g_dbus_connection_get_unique_name(reference.pointer).map { String(cString: $0) } ?? ""
  }
}

extension Secret {
  /// Returns a secret with more bytes at its end.
  fileprivate func followed(by bytes: UnsafeRawBufferPointer) -> Secret {
    Secret(capacity: count + bytes.count) { memory in
      withUnsafeBytes { memory.copyMemory(from: $0) }
      UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: bytes)
      return memory.count
    }
  }
}
#endif
