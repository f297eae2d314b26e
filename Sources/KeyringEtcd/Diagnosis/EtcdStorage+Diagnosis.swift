// SPDX-License-Identifier: Apache-2.0

#if Etcd
public import KeyringStorage

internal import KeyringPlatform

extension EtcdStorage {
  /// Checks each node and its clock, the keys of the namespace, and the first thousand items that the user may
  /// read.
  ///
  /// Of an untrusted certificate, the diagnosis tells which one it is, and what to check.
  ///
  /// - Parameter writing: Pass `true` to also check that an item can be stored, read, and removed, and that each
  ///   node accepts the largest item. For that, the method sends 2 MiB to each node, which drops it.
  /// - Returns: The diagnosis. A silent node gives only a notice, because the others do its work.
  /// - Throws: Only `.canceled` in a cancelled task.
  public func diagnoseWithoutBlocking(
    writing: Bool
  ) async throws(SecureStorageError) -> StorageDiagnosis {
    // The request also has the item's label and key.
    let largestChange = writing ? secretByteLimit + (1 << 16) : nil
    var diagnosis = await fleet.diagnosis(largestChange)
    try checkCancellation(.diagnose)
    if writing, diagnosis.failure == nil {
      let complete = try await diagnosing(writing: true) { [diagnosis] in
        var complete = diagnosis
        complete.probeWriting(in: self)
        return complete
      }
      if complete.failure?.code == .accessDenied, let user = fleet.settings.user {
        diagnosis.add(
          "writing", "not tried: the user \(user.name) has no role for the item",
          recoverySuggestion:
            "To try it, grant the user a role for the service \"\(ItemKey.probe().service ?? "")\"."
        )
      } else {
        diagnosis = complete
      }
    }
    return diagnosis
  }
}

extension Fleet {
  /// Checks nodes, keys and items.
  ///
  /// - Parameter largestChange: The number of bytes of the largest request that the nodes have to accept, or
  ///   `nil` to skip the check.
  /// - Returns: The diagnosis.
  fileprivate func diagnosis(_ largestChange: Int?) async -> StorageDiagnosis {
    var diagnosis = StorageDiagnosis(of: "\(EtcdStorage.self)")
    var subject = "settings"
    do throws(SecureStorageError) {
      try await FleetOperation.perform(.diagnose, on: self) {
        (operation) throws(SecureStorageError) in
        if settings.endpoints.contains(where: { $0.hasPrefix("https://") }),
          let fault = CertificateFault.ofProgram(settings.tls)
        {
          diagnosis.add(
            "certificate", fault.text, recoverySuggestion: fault.recoverySuggestion)
        }
        for node in await operation.client.nodes(accepting: largestChange) {
          add(node, to: &diagnosis)
        }
        subject = "keys"
        // Nodes that don't answer have used up their time.
        operation.renew()
        let known = try await operation.readKeys()
        diagnosis.add(
          subject, "namespace \(settings.namespace), opened with a \(keys.source)",
          recoverySuggestion: known.primary.older.isEmpty
            ? nil : "A change of the data key wasn't finished. Call rotateDataKey() again.")
        diagnosis.protection = keys.source.protection()
        if let storage = keys.source.storage {
          diagnosis.protection = try await storage.diagnoseWithoutBlocking(writing: false)
            .protection
        }
        subject = "items"
        try await addItems(operation, to: &diagnosis)
      }
    } catch {
      diagnosis.add(subject, error)
    }
    return diagnosis
  }

  /// Decrypts the items, and adds a finding about them.
  private func addItems(
    _ operation: FleetOperation, to diagnosis: inout StorageDiagnosis
  ) async throws(SecureStorageError) {
    let parts = try await operation.readableParts(of: EtcdRange(prefix: operation.namespace.items))
    let most = Self.mostDiagnosedItems
    // One more shows that there are others.
    let results = try await operation.list(parts, first: most + 1) { value, keys in
      Result { () throws(SecureStorageError) in _ = try operation.open(value, keys) }
    }.elements
    let isComplete = results.count <= most
    let count = isComplete ? "\(results.count)" : "the first \(most)"
    let errors = results.prefix(most).compactMap { result in
      if case .failure(let error) = result { error } else { nil }
    }
    if errors.isEmpty {
      let rest = isComplete ? "" : "; the others aren't checked"
      return diagnosis.add("items", "\(count) can be read\(rest)")
    }
    var sentences = ["\(errors.count) of \(count) can't be read."]
    sentences += errors.prefix(Self.mostNamedItems).map(\.message)
    if errors.count > Self.mostNamedItems {
      sentences.append("And \(errors.count - Self.mostNamedItems) more.")
    }
    diagnosis.add(
      "items", sentences.joined(separator: " "),
      recoverySuggestion:
        """
        Remove these items and store them again, or restore the cluster from a backup. If no item has such a \
        name, delete the key that the message names with etcdctl del.
        """)
  }

  /// The number of items that a diagnosis checks.
  private static let mostDiagnosedItems = 1_000

  /// The number of damaged items that a finding names.
  private static let mostNamedItems = 3

  private func add(_ node: EtcdClient.Node, to diagnosis: inout StorageDiagnosis) {
    let subject = "node \(node.endpoint)"
    switch node.status {
    case .success(let status) where status.alarms.contains { $0.contains("NOSPACE") }:
      diagnosis.add(subject, settings.databaseIsFull().during(.diagnose))
    case .success(let status):
      let suggestion =
        if !status.hasLeader {
          "It has no leader. Check that most of the nodes run, and that they reach each other."
        } else if let alarm = status.alarms.first {
          "It has the alarm \(alarm)."
        } else {
          status.fault(hasUsers: settings.user != nil)
        }
      let size = status.databaseSize.map { ", \($0 >> 20) MiB" } ?? ""
      diagnosis.add(subject, "etcd \(status.version)\(size)", recoverySuggestion: suggestion)
    case .failure(let failure):
      let error = settings.error(for: failure.cause)
      let cause = error.underlying.map { " [\($0)]" } ?? ""
      switch failure.cause {
      case .timedOut:
        diagnosis.add(
          subject, "It doesn't answer.",
          recoverySuggestion: "Check the node. Most of the nodes must run.")
      case .unreachable:
        diagnosis.add(
          subject, "It can't be reached." + cause,
          recoverySuggestion: "Check the node and its address. Most of the nodes must run."
            + settings.closing(cause))
      case .untrusted(let reason):
        let fault = CertificateFault.ofNode(node.endpoint, reason, settings.tls)
        diagnosis.add(
          subject, fault?.text ?? error.message + cause,
          recoverySuggestion: fault?.recoverySuggestion ?? error.recoverySuggestion)
      default:
        diagnosis.add(
          subject, error.message + cause,
          recoverySuggestion: error.recoverySuggestion ?? "Check the node.")
      }
    }
    if abs(node.clockLead) > Self.mostClockLead {
      let seconds = Int(abs(node.clockLead).rounded())
      let relation = node.clockLead > 0 ? "ahead of" : "behind"
      diagnosis.add(
        subject, "Its clock is \(seconds) seconds \(relation) that of this machine.",
        recoverySuggestion:
          "Let a time service set both clocks. Certificates and tokens are valid only for a limited time."
      )
    }
    if node.refusesSize {
      diagnosis.add(
        subject, "It refuses items of the size that this storage allows.",
        recoverySuggestion:
          """
          Start it without --max-request-bytes, or with a larger number. If there is a proxy, let it accept \
          requests of 3 MiB.
          """)
    }
  }

  /// The seconds by which clocks may differ.
  ///
  /// Clocks that a time service sets differ by much less than a second. A new certificate is used within seconds,
  /// and too early for a clock that is further behind. A token that etcd has signed (JWT) ends early by a
  /// clock that is ahead.
  private static let mostClockLead: TimeInterval = 5
}

extension StatusReply {
  /// Returns what to do about faults of the version, or `nil` for a version without known faults.
  ///
  /// - Parameter hasUsers: Pass `true` for a cluster with users, whom roles should keep apart.
  /// - Returns: The advice.
  func fault(hasUsers: Bool) -> String? {
    let update = "Update it to 3.5.33, 3.6.14, 3.7.1 or later"
    // Transactions inside transactions (GHSA-rfx7-8w68-q57q), earlier values in transactions (CVE-2026-44283), and
    // lost events (etcd issue 17529)
    if precedes([[3, 4, 44], [3, 5, 30], [3, 6, 11]]) {
      return """
        \(update): this version can lose changes, and any user who has a role can read, change and remove the items \
        of all services.
        """
    }
    // Watches without an end (GHSA-xg4h-6gfc-h4m8)
    if hasUsers, precedes([[3, 5, 33], [3, 6, 14], [3, 7, 1]]) {
      return """
        \(update): in this version, any user who has a role can watch the changes of all services, and so read their \
        new secrets.
        """
    }
    return nil
  }

  /// Returns `true` for a version before the release of its series, or before the first one.
  private func precedes(_ releases: [[Int]]) -> Bool {
    let parts = version.split(separator: ".").map { Int($0.prefix { $0.isNumber }) ?? 0 }
    let release = releases.first { parts.starts(with: $0.dropLast()) } ?? releases[0]
    return parts.lexicographicallyPrecedes(release)
  }
}
#endif
