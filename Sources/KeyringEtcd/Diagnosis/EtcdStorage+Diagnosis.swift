// SPDX-License-Identifier: Apache-2.0

#if Etcd
public import KeyringStorage

internal import Synchronization

extension EtcdStorage {
  /// Checks each node and the keys of the namespace.
  ///
  /// - Parameter writing: Pass `true` to also check that an item can be stored, read, and removed.
  /// - Returns: The diagnosis. A node that doesn't answer is a notice: the others do its work.
  public func diagnose(writing: Bool) -> StorageDiagnosis {
    var diagnosis = ThreadExecutor.runToEnd { await fleet.diagnosis() }
    if writing, diagnosis.failure == nil { diagnosis.probeWriting(in: self) }
    return diagnosis
  }
}

extension EtcdNamespace {
  fileprivate func diagnosis() async -> StorageDiagnosis {
    var diagnosis = StorageDiagnosis(of: "\(EtcdStorage.self)")
    var subject = "settings"
    do throws(SecureStorageError) {
      try await perform(.diagnose) { (session) throws(SecureStorageError) in
        for node in await session.client.nodes() { add(node, to: &diagnosis) }
        subject = "keys"
        // Nodes that don't answer have taken their time.
        session.renew()
        let keys = try await session.readKeys()
        diagnosis.add(
          subject, "namespace \(settings.namespace), opened with a \(source.withLock { $0 })",
          recoverySuggestion: keys.primary.older.isEmpty
            ? nil : "A change of the data key wasn't finished. Call rotateDataKey() again.")
      }
    } catch {
      diagnosis.add(subject, error)
    }
    return diagnosis
  }

  private func add(_ node: EtcdClient.Node, to diagnosis: inout StorageDiagnosis) {
    switch node.status {
    case .success(let status):
      let suggestion =
        if !status.hasLeader {
          "It has no leader. Check that most of the nodes run, and that they reach each other."
        } else if let alarm = status.alarms.first {
          alarm.contains("NOSPACE")
            ? "It has the alarm NOSPACE. Compact and defragment the database, and disarm the alarm."
            : "Its alarm: \(alarm)."
        } else if status.lacksFixes {
          "Update it: versions before 3.4.25 can lose changes that a client watches."
        } else {
          nil as String?
        }
      diagnosis.add(
        "node \(node.endpoint)", "etcd \(status.version), \(status.databaseSize >> 20) MiB",
        recoverySuggestion: suggestion)
    case .failure(let failure):
      let error = error(for: failure.cause)
      let cause = error.underlying.map { " [\($0)]" } ?? ""
      diagnosis.add(
        "node \(node.endpoint)", error.message + cause,
        recoverySuggestion: error.recoverySuggestion ?? "Check the node.")
    }
  }
}

extension StatusReply {
  /// Indicates whether the version is older than 3.4.25.
  fileprivate var lacksFixes: Bool {
    let parts = version.split(separator: ".").map { Int($0.prefix { $0.isNumber }) ?? 0 }
    return parts.lexicographicallyPrecedes([3, 4, 25])
  }
}
#endif
