// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringRuntime
internal import KeyringStorage
internal import NIOPosix

extension FleetOperation {
  /// Runs an operation, and fills in its name in its errors.
  static func perform<Result>(
    _ name: SecureStorageError.Operation, on fleet: Fleet,
    _ body: (FleetOperation) async throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    let start = KeyringEvent.Start()
    do throws(SecureStorageError) {
      if ForkedProcess.hasLostThreads {
        throw fleet.settings.error(
          .other, ForkedProcess.message, recoverySuggestion: ForkedProcess.recoverySuggestion)
      }
      if ThreadExecutor.ofCurrentTask?.isSynchronous == true,
        MultiThreadedEventLoopGroup.currentEventLoop != nil
      {
        throw fleet.settings.error(
          .other, "A synchronous call would block the event loop's thread.",
          recoverySuggestion: "Use await.")
      }
      if Task.isCancelled { throw fleet.settings.error(.canceled) }
      if ThreadExecutor.ofCurrentTask == nil, let shortage = ThreadExecutor.ofOthers.missingThread {
        throw fleet.settings.error(shortage)
      }
      let (client, namespace) = try fleet.connection.open()
      let operation = FleetOperation(fleet, client, namespace, name)
      // An observation and a diagnosis answer no author.
      if ![.observe, .diagnose].contains(name) { try await operation.settleDoubts() }
      if ![.initialize, .diagnose].contains(name), fleet.keys.current == nil {
        _ = try await operation.readKeys()
      }
      let result = try await body(operation)
      KeyringEvent.report(
        .operationSucceeded(name, backend: FleetSettings.backendName, since: start))
      return result
    } catch {
      var error = error
      error.operation = name
      KeyringEvent.report(.operationFailed(error, since: start))
      throw error
    }
  }
}
#endif
