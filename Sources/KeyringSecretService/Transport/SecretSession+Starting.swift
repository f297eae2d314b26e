// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
extension SecretSession {
  /// Runs a closure that needs the provider, and again after starting the provider by another name.
  ///
  /// The bus starts a provider for a message to `org.freedesktop.secrets` only if it's installed under that
  /// name.
  ///
  /// - Parameters:
  ///   - connection: The connection to the bus.
  ///   - deadline: The deadline of the call.
  ///   - body: The closure.
  /// - Returns: The result of the closure.
  /// - Throws: The error of the closure.
  static func startingProvider<Result>(
    on connection: BusConnection, until deadline: Deadline,
    _ body: () async throws(DBusError) -> Result
  ) async throws(DBusError) -> Result {
    do throws(DBusError) {
      return try await body()
    } catch {
      guard error.isWithoutReceiver,
        let names = try? await startableNames(on: connection, until: deadline),
        !names.contains(MethodCall.secrets),
        let other = Provider.otherStartableNames.first(where: names.contains)
      else { throw error }
      // If this fails, the closure fails again, and its error is the same as without this attempt. A program that
      // runs and doesn't take the name must not use up the time of the call.
      let attempt = Deadline(after: min(.seconds(5), deadline.remaining / 2))
      _ = try? await connection.send([.start(other)], to: nil, until: attempt)
      return try await body()
    }
  }

  /// Returns the names for which the bus can start a program.
  static func startableNames(
    on connection: BusConnection, until deadline: Deadline
  ) async throws(DBusError) -> Set<String> {
    let answer = try await connection.send([.activatableNames()], to: nil, until: deadline)[0]
    return Set(try answer.get().child(0).children.map(\.text))
  }
}
#endif
