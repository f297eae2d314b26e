// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringPlatform
internal import KeyringRuntime
internal import KeyringStorage

extension FleetOperation {
  /// A look at a turn, all at one revision.
  struct TurnLook: Sendable {
    /// The key before this one in the queue, or `nil` for the first one, which has its turn.
    let predecessor: EtcdKey?
    /// The first key in the queue.
    var first: KeyValue?
    /// `true` for a turn whose key is in the queue.
    var isThere = true
    let item: FleetItem?
    let keys: NamespaceKeys
    let revision: Int64
  }

  /// Waits for the turn to change an item.
  ///
  /// - Parameters:
  ///   - key: The key of the item.
  ///   - moment: The moment at which to give up, in microseconds of the monotonic clock.
  /// - Returns: The turn, and the item as it was when the turn began.
  /// - Throws: `.timedOut`, with the description of the one whose turn it is as the message; or another error.
  func turn(
    for key: ItemKey, until moment: Int64
  ) async throws(SecureStorageError) -> (QueuedTurn, FleetItem?) {
    while true {
      let (turn, look) = try await enqueue(key)
      do throws(SecureStorageError) {
        if let item = try await wait(for: turn, key, look, until: moment) { return (turn, item) }
      } catch {
        await fleet.turns.end(turn, client)
        throw error
      }
      // The lease was lost during the wait.
      turn.lease.leave(turn.key)
    }
  }

  /// Reads an item, and what is before a turn in the queue.
  func look(
    at turn: QueuedTurn, _ key: ItemKey
  ) async throws(SecureStorageError) -> TurnLook {
    var (own, earlier) = (RangeRequest(turn.key), RangeRequest(prefix: turn.queue))
    var first = earlier
    own.keysOnly = true
    (earlier.mostRecentCreation, earlier.keysOnly) = (turn.creation - 1, true)
    (earlier.order, earlier.limit) = (.newestFirst, 1)
    (first.order, first.limit) = (.oldestFirst, 1)
    let (keys, replies, revision) = try await read { [own, earlier, first] keys in
      [RangeRequest(keys.names.item(key)), own, earlier, first]
    }
    return TurnLook(
      predecessor: replies[2].values.first?.key, first: replies[3].values.first,
      isThere: replies[1].values.first?.creation == turn.creation,
      item: try item(in: replies[0], key, keys), keys: keys, revision: revision)
  }

  // MARK: - Joining the queue

  /// Puts a key at the end of the queue for an item, and reads the item and the key before.
  private func enqueue(
    _ key: ItemKey
  ) async throws(SecureStorageError) -> (QueuedTurn, TurnLook) {
    var keys = try await keys()
    var hadOtherLease = false
    while true {
      var turn = try await newTurn(in: keys.names.turns(key))
      let answer: EtcdClient.Answer<TransactionReply>
      let item = RangeRequest(keys.names.item(key))
      do throws(EtcdFailure) {
        answer = try await send(enqueuing(turn, item, keys))
      } catch {
        let isAboutLease = error.refusal.map { [5, 7].contains($0.code) } ?? false
        // The lease may have ended, or have turns of a service whose role was revoked.
        if isAboutLease { turn.lease.close() }
        await abandon(turn, error.hasDoubt)
        guard isAboutLease else { throw fleet.settings.error(for: error.cause) }
        if exchange(&hadOtherLease, with: true) { try await refuse(error, key) }
        continue
      }
      let replies = answer.reply.ranges
      guard answer.reply.hasSucceeded else {
        await abandon(turn, answer.hasDoubt)
        keys = try await takeKeys(replies, after: keys)
        continue
      }
      do throws(SecureStorageError) {
        if answer.hasDoubt {
          // A later copy would put the key into the queue again, and others may have come between two copies.
          turn.lease.close()
          turn.creation = try await creation(of: turn.key)
          return (turn, try await look(at: turn, key))
        }
        guard replies.count == 2, let own = replies[1].values.first(where: { $0.key == turn.key })
        else {
          throw fleet.settings.error(for: .malformed("a reply without the expected ranges"))
        }
        try check(replies.prefix(1), answer: [item])
        turn.creation = own.creation
        let look = TurnLook(
          predecessor: replies[1].values.first { $0.key != turn.key }?.key,
          item: try self.item(in: replies[0], key, keys), keys: keys,
          revision: answer.reply.revision)
        return (turn, look)
      } catch {
        await fleet.turns.end(turn, client)
        throw error
      }
    }
  }

  /// Leaves the queue, in which a copy of a request may have put a key, or may do so later.
  private func abandon(_ turn: QueuedTurn, _ hasDoubt: Bool) async {
    guard hasDoubt else { return turn.lease.leave(turn.key) }
    turn.lease.close()
    await fleet.turns.end(turn, client)
  }

  /// Returns the revision in which a key was created, or 0 for an absent one.
  private func creation(of key: EtcdKey) async throws(SecureStorageError) -> Int64 {
    var request = RangeRequest(key)
    request.keysOnly = true
    return try await read { [request] _ in [request] }.replies.first?.values.first?.creation ?? 0
  }

  private func newTurn(in queue: EtcdKey) async throws(SecureStorageError) -> QueuedTurn {
    let name = queue + [UInt8].random(FleetItem.writeIDByteCount).hexadecimal
    do throws(EtcdFailure) {
      let lease = try await fleet.turns.lease(for: name, from: client, until: end)
      return QueuedTurn(key: name, queue: queue, lease: lease)
    } catch {
      throw fleet.settings.error(for: error.cause)
    }
  }

  private func enqueuing(
    _ turn: QueuedTurn, _ item: RangeRequest, _ keys: NamespaceKeys
  ) -> Transaction {
    var last = RangeRequest(prefix: turn.queue)
    (last.order, last.keysOnly) = (.newestFirst, true)
    // The own key, and the one before.
    last.limit = 2
    let value = (try? keys.seal(Secret(Self.ownDescription), turn.key)) ?? []
    return Transaction(
      compare: keys.conditions,
      success: fleet.turns.leftovers(in: turn.queue).prefix(Transaction.rangeLimit).map {
        .delete($0)
      }
        + [.put(turn.key, value, lease: turn.lease.id), .range(item), .range(last)],
      failure: NamespaceKeys.requests(namespace))
  }

  /// Throws the error of a refusal to join the queue.
  ///
  /// A role that was granted by an earlier version has no turns.
  private func refuse(_ failure: EtcdFailure, _ key: ItemKey) async throws(SecureStorageError) {
    guard failure.refusal?.isDenial == true else {
      throw fleet.settings.error(for: failure.cause)
    }
    // A role that lacks the item, too, is another mistake.
    _ = try await storedItem(for: key)
    var error = fleet.settings.error(for: failure.cause)
    error.message =
      "\(fleet.settings.program) may not take turns to change this item in the cluster."
    error.recoverySuggestion = """
      Grant the permissions of the service to the role again, as keyring-tool permissions prints them: the prefix of \
      its turns is new.
      """
    throw error
  }

  // MARK: - Waiting

  /// Waits for a turn, and returns the item, or `nil` for a turn whose key is gone.
  private func wait(
    for turn: QueuedTurn, _ key: ItemKey, _ first: TurnLook, until moment: Int64
  ) async throws(SecureStorageError) -> FleetItem?? {
    var look = first
    var pause = Self.shortestPause
    while look.isThere {
      guard let predecessor = look.predecessor else { return .some(look.item) }
      if ThreadExecutor.now >= moment {
        // The last look also tells whose turn it is.
        if look.first != nil { throw overdue(look) }
      } else if await !removal(of: predecessor, look, turn, until: moment) {
        // Machines that have lost a node at the same moment don't come back at the same moment.
        let now = ThreadExecutor.now
        _ = await Waiter.wait(until: min(moment, now + .random(in: pause / 2...pause))) { _ in }
        pause = min(2 * pause, Self.longestPause)
      }
      if Task.isCancelled { throw fleet.settings.error(.canceled) }
      renew()
      look = try await self.look(at: turn, key)
    }
    return nil
  }

  /// Waits until a key is removed, and returns `false` after the loss of the connection.
  private func removal(
    of predecessor: EtcdKey, _ look: TurnLook, _ turn: QueuedTurn, until moment: Int64
  ) async -> Bool {
    let end = SharedOutcome<Void>()
    turn.lease.whenLost(turn.key) { end.settle(()) }
    // The watch begins with a revision that was seen, as that of items does.
    return await client.watch(
      [EtcdRange(predecessor): look.revision], while: look.keys.conditions, until: moment, or: end
    ) { _, reply in
      if reply.events.contains(where: { $0.isRemoval && $0.value.key == predecessor }) {
        end.settle(())
      }
      return !reply.isCanceled
    }
  }

  /// Returns the error of a turn that takes too long to begin, with the description of the first one in the queue.
  private func overdue(_ look: TurnLook) -> SecureStorageError {
    let name = look.first.flatMap { try? look.keys.content(of: $0).text } ?? "Another program"
    return fleet.settings.error(
      .timedOut, "\(name) keeps its turn to change the item.",
      recoverySuggestion: "Try again when the others have ended.")
  }

  /// The shortest time between two attempts to watch, in microseconds.
  private static let shortestPause: Int64 = 50_000
  private static let longestPause: Int64 = 2_000_000

  /// The description of this process for those who wait for it.
  private static let ownDescription = {
    var name = [CChar](repeating: 0, count: 256)
    // The last byte stays zero.
    let isKnown = gethostname(&name, name.count - 1) == 0
    let host = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    let machine = isKnown ? String(decoding: host, as: UTF8.self) : "an unknown machine"
    return "The program \(Executable.name), process \(getpid()) on \(machine),"
  }()
}
#endif
