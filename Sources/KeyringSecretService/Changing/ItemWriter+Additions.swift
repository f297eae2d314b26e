// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringRuntime
internal import KeyringStorage

extension ItemWriter {
  /// Runs a closure while no other program on the bus adds an item under the same key.
  ///
  /// The program owns a name on the provider's bus meanwhile (Decisions/0003). If it can't get the name, or not in time,
  /// the closure runs all the same.
  ///
  /// - Parameters:
  ///   - key: The key of the item.
  ///   - body: The closure.
  /// - Returns: The result of the closure.
  /// - Throws: The error of the closure, or of the request for the name.
  func taking<Result>(
    additionsOf key: ItemKey, _ body: () async throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    let name = MethodCall.nameOfAdditions(under: key)
    let isTaken = try await take(name)
    do throws(SecureStorageError) {
      let result = try await body()
      if isTaken { await giveBack(name) }
      return result
    } catch {
      if isTaken { await giveBack(name) }
      throw error
    }
  }

  /// Waits to own a name, and returns `false` for one that this program can't own.
  private func take(_ name: String) async throws(SecureStorageError) -> Bool {
    // A program that was stopped, or whose user is being asked, doesn't keep the others out.
    var end: Int64?
    while end.map({ ThreadExecutor.now < $0 }) ?? true {
      let answer: Variant?
      do throws(DBusError) {
        if let failure = call.deadline.failure { throw failure }
        answer = try await call.session.connection.send(
          [.take(name)], to: nil, until: call.deadline
        )
        .first.flatMap { try? $0.get() }
      } catch {
        // The bus may have given the name all the same.
        await giveBack(name)
        // The time may be over while the bus answers.
        throw await end != nil && error.codeWhileCalling == .timedOut
          ? turnFailure(name) : call.failure(error)
      }
      guard let number = answer?.child(0).number else { return false }
      if number != MethodCall.nameIsTaken {
        call.session.turns[name] = nil
        return true
      }
      if end == nil { end = await endOfTurn(name) }
      let pause = Duration.milliseconds(Int.random(in: 2...10))
      _ = await Waiter.wait(until: .now(plus: pause)) { _ in }
    }
    return false
  }

  /// Returns the time at which the program that owns a name has had its turn.
  ///
  /// Its turn has begun when this process first met it. The next additions wait for the rest of it.
  private func endOfTurn(_ name: String) async -> Int64 {
    let end = Int64.now(plus: Self.longestTurn)
    guard let owner = await answers(.owner(of: name))[0]?.child(0).text else { return end }
    // A program that was met long ago may have another turn now.
    if let turn = call.session.turns[name], turn.owner == owner,
      ThreadExecutor.now - turn.end < Self.longestTurn.microseconds
    {
      return max(turn.end, .now(plus: Self.shortestWait))
    }
    call.session.turns[name] = (owner, end)
    return end
  }

  /// Returns the error of an addition whose time has passed in another program's turn.
  private func turnFailure(_ name: String) async -> SecureStorageError {
    call.waitsForTurn = true
    let answers = await answers(.owner(of: name), .process(of: name))
    let program = answers[0].map {
      BusConnection.description(of: $0.child(0).text, process: answers[1])
    }
    return call.failure(
      .timedOut,
      "Another program keeps its turn to add this item: \(program ?? "one that can't be seen").",
      recoverySuggestion: "End that program if it hangs, and try again.",
      underlying: DBusError.timedOut.underlying)
  }

  /// Asks the bus, which answers at once, even if the time of the operation has passed.
  private func answers(_ messages: MethodCall...) async -> [Variant?] {
    let answers = try? await call.session.connection.send(
      messages, to: nil, until: Deadline(after: .seconds(1)))
    return answers?.map { try? $0.get() } ?? messages.map { _ in nil }
  }

  /// The time for which others wait for a program that has its turn.
  private static let longestTurn = Duration.seconds(5)
  /// The time for which an addition waits in any case.
  private static let shortestWait = Duration.milliseconds(100)

  /// Gives a name back, even if the operation must end.
  private func giveBack(_ name: String) async {
    await withoutCancellation { [session = call.session] in
      _ = try? await session.connection.send(
        [.giveBack(name)], to: nil, until: Deadline(after: .seconds(1)))
    }
  }
}

extension MethodCall {
  /// The answer to a request for a name that another program owns.
  fileprivate static let nameIsTaken: UInt32 = 3

  /// Returns the name that a program owns to add an item under a key.
  ///
  /// The hash is FNV-1a, so that all programs use the same one. Two keys of one hash only wait for each other.
  static func nameOfAdditions(under key: ItemKey) -> String {
    let hash = key.description.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01B3
    }
    return "org.swift_keyring.Addition.k\(String(hash, radix: 36))"
  }

  /// Returns a call that makes this program the owner of a free name.
  static func take(_ name: String) -> MethodCall {
    let doNotQueue: UInt32 = 4
    return toBus("RequestName", [.string(name), .unsigned32(doNotQueue)], answer: "(u)")
  }

  /// Returns a call that ends the ownership of a name.
  fileprivate static func giveBack(_ name: String) -> MethodCall {
    toBus("ReleaseName", [.string(name)], answer: "(u)")
  }
}
#endif
