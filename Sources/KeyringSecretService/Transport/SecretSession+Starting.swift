// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

extension SecretSession {
  /// Runs a closure that needs the provider, and again once a provider was started or is ready.
  ///
  /// - Parameters:
  ///   - connection: The connection to the bus.
  ///   - deadline: The deadline of the call.
  ///   - body: The closure. It receives the time to wait for a provider that may not be ready.
  /// - Returns: The result of the closure.
  /// - Throws: The error of the closure, or of the start of the provider.
  static func startingProvider<Result>(
    on connection: BusConnection, until deadline: Deadline,
    _ body: (Duration) async throws(DBusError) -> Result
  ) async throws(DBusError) -> Result {
    // After these times, the provider is only slow.
    var patience: [Duration] = [.seconds(1), .milliseconds(500)]
    var wasStarted = false
    while true {
      do throws(DBusError) {
        return try await body(patience.popLast() ?? deadline.remaining)
      } catch {
        if error.isWithoutReceiver, !wasStarted {
          try await startProvider(on: connection, until: deadline)
          wasStarted = true
        } else if error !== DBusError.providerIsNotReady {
          throw error
        }
      }
      let owner = try await connection.send(
        [.owner(of: MethodCall.secrets)], to: nil, until: deadline)[0]
      // It may have ended in the meantime, and may be started again.
      if case .failure(let failure) = owner, failure.isWithoutReceiver, !wasStarted { continue }
      let name = try owner.get().child(0).text
      if try await !connection.provider(name, until: deadline).isReadyOnceStarted {
        _ = try await connection.readyProvider(name, until: deadline)
      }
    }
  }

  /// Makes the bus start the provider.
  ///
  /// It does that for a message to `org.freedesktop.secrets` only if a program is installed under that name.
  private static func startProvider(
    on connection: BusConnection, until deadline: Deadline
  ) async throws(DBusError) {
    let start = try await connection.send(
      [.start(MethodCall.secrets)], to: nil, until: deadline)[0]
    guard case .failure(let failure) = start else { return }
    guard failure.isWithoutReceiver,
      let names = try? await startableNames(on: connection, until: deadline),
      !names.contains(MethodCall.secrets),
      let other = Provider.otherStartableNames.first(where: names.contains)
    else { throw failure }
    // A program that runs and doesn't take the name must not use up the time of the call.
    let attempt = Deadline(after: min(.seconds(5), deadline.remaining / 2))
    _ = try? await connection.send([.start(other)], to: nil, until: attempt)
  }

  /// Returns the names for which the bus can start a program.
  static func startableNames(
    on connection: BusConnection, until deadline: Deadline
  ) async throws(DBusError) -> Set<String> {
    let answer = try await connection.send([.activatableNames()], to: nil, until: deadline)[0]
    return Set(try answer.get().child(0).children.map(\.text))
  }
}

// MARK: - Recognizing the provider

extension BusConnection {
  /// Recognizes a provider by the other names that it owns.
  ///
  /// The provider must have answered a message. Before that, it may not own its names yet.
  func provider(
    _ uniqueName: String, until deadline: Deadline
  ) async throws(DBusError) -> Provider {
    let answers = try await send(Provider.ownerQuestions, to: nil, until: deadline)
    return Provider(uniqueName, owners: answers)
  }

  /// Waits until a provider has its collections, and recognizes it by the other names that it owns.
  ///
  /// A provider that has just started may have no collections at first, or collections without items. It's ready
  /// once the alias of its default collection is an object. That never happens if there is no default
  /// collection, or if aliases are no objects.
  func readyProvider(
    _ uniqueName: String, until deadline: Deadline
  ) async throws(DBusError) -> Provider {
    let start = ContinuousClock.now
    var collection: ObjectPath?
    while true {
      let objects = [.collection(aliased: "default"), collection].compactMap(\.self)
      let questions = [.readAlias("default")] + objects.map { MethodCall.isLocked($0) }
      let end = Deadline(after: min(Self.timeToAnswer, deadline.remaining))
      let answers = try? await send(
        Provider.ownerQuestions + questions, to: uniqueName, until: end)
      if let failure = deadline.failure { throw failure }
      let time = start.duration(to: .now)
      guard let answers else {
        // It answers nothing yet, and only the bus knows its names.
        if time < Self.timeToBeReady { continue }
        return try await provider(uniqueName, until: deadline)
      }
      let provider = Provider(uniqueName, owners: answers)
      let isThere = zip(answers.suffix(objects.count), questions.dropFirst()).map {
        !$0.isUnknown($1)
      }
      let mayHaveNone = collection == nil || isThere.last == true
      if provider.isReadyOnceStarted || isThere[0] || time >= Self.timeToBeReady
        || mayHaveNone && time >= Self.timeWithoutDefault
      {
        return provider
      }
      let alias = answers[Provider.names.count]
      collection = (try? alias.get()).map { ObjectPath($0.child(0).text) }
        .flatMap { $0.isNone ? nil : $0 }
      _ = await Waiter.wait(until: .now(plus: .milliseconds(20))) { _ in }
    }
  }

  /// The time to wait for each answer of a provider that may not be ready.
  private static let timeToAnswer = Duration.milliseconds(500)

  /// The time in which any provider has its collections.
  private static let timeToBeReady = Duration.seconds(2)

  /// The time after which a provider without the object has no default collection, or no objects for aliases.
  private static let timeWithoutDefault = Duration.milliseconds(500)
}

extension Provider {
  /// The messages whose answers show which provider it is.
  fileprivate static var ownerQuestions: [MethodCall] { names.map { .owner(of: $0) } }

  fileprivate init(_ uniqueName: String, owners answers: [Result<Variant, DBusError>]) {
    var owners: [String: String] = [:]
    for (name, answer) in zip(Self.names, answers) {
      owners[name] = try? answer.get().child(0).text
    }
    self.init(uniqueName, owners: owners)
  }
}

extension Result<Variant, DBusError> {
  fileprivate func isUnknown(_ message: MethodCall) -> Bool {
    if case .failure(let failure) = self { failure.isUnknownObject(of: message) } else { false }
  }
}
#endif
