// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringRuntime

extension BusConnection {
  /// Runs a closure that needs the provider, and once again after the provider was started.
  ///
  /// - Parameters:
  ///   - deadline: The deadline of the call.
  ///   - body: The closure.
  /// - Returns: The result of the closure.
  /// - Throws: The error of the closure, or of the start of the provider.
  func startingProvider<Result>(
    until deadline: Deadline, _ body: () async throws(DBusError) -> Result
  ) async throws(DBusError) -> Result {
    do throws(DBusError) {
      return try await body()
    } catch {
      guard error.isWithoutReceiver else { throw error }
    }
    try await startProvider(until: deadline)
    return try await body()
  }

  /// Makes the bus start the provider.
  ///
  /// It does that for a message to `org.freedesktop.secrets` only if a program is installed under that name.
  private func startProvider(until deadline: Deadline) async throws(DBusError) {
    let start = try await send([.start(MethodCall.secrets)], to: nil, until: deadline)[0]
    guard case .failure(let failure) = start else { return }
    guard failure.isWithoutReceiver,
      let names = try? await startableNames(until: deadline),
      !names.contains(MethodCall.secrets),
      let other = Provider.otherStartableNames.first(where: names.contains)
    else { throw failure }
    // A program that runs and doesn't take the name must not use up the time of the call.
    let attempt = Deadline(after: min(.seconds(5), deadline.remaining / 2))
    _ = try? await send([.start(other)], to: nil, until: attempt)
  }

  /// Returns the names for which the bus can start a program.
  func startableNames(until deadline: Deadline) async throws(DBusError) -> Set<String> {
    let answer = try await send([.activatableNames()], to: nil, until: deadline)[0]
    return Set(try answer.get().child(0).children.map(\.text))
  }
}

// MARK: - Recognizing the provider

extension BusConnection {
  /// Recognizes the provider that is running by the other names that it owns.
  ///
  /// One that has just started may own them only later.
  ///
  /// - Parameters:
  ///   - deadline: The deadline of the call.
  ///   - onAnswer: A closure that runs when the bus has named the owner of the service, between the signals that
  ///     arrive before the answer and those that arrive after it.
  /// - Returns: The provider.
  /// - Throws: `DBusError` if none is running.
  func provider(
    until deadline: Deadline, onAnswer: @escaping () -> Void
  ) async throws(DBusError) -> Provider {
    let questions = Provider.ownerQuestions + [.owner(of: MethodCall.secrets)]
    let last = questions.count - 1
    let answers = try await send(questions, to: nil, until: deadline) {
      if $0 == last { onAnswer() }
    }
    return Provider(try answers[last].get().child(0).text, answers: answers)
  }

  /// Recognizes a provider by the other names that it owns.
  func provider(
    _ uniqueName: String, until deadline: Deadline
  ) async throws(DBusError) -> Provider {
    let answers = try await send(Provider.ownerQuestions, to: nil, until: deadline)
    return Provider(uniqueName, answers: answers)
  }

  /// Waits until a provider has its collections, and recognizes it by the other names that it owns by then.
  ///
  /// A provider that has just started may have no collections at first, or collections without items. It's ready
  /// as soon as the alias of its default collection is an object. That never happens without a default
  /// collection, or where aliases are no objects.
  func readyProvider(
    _ found: Provider, until deadline: Deadline
  ) async throws(DBusError) -> Provider {
    let start = ContinuousClock.now
    var provider = found
    var collection: ObjectPath?
    while !provider.isReadyOnceStarted {
      let objects = [.collection(aliased: "default"), collection].compactMap(\.self)
      let questions = [.readAlias("default")] + objects.map { MethodCall.isLocked($0) }
      let end = Deadline(after: min(Self.timeToAnswer, deadline.remaining))
      let answers = try? await send(questions, to: provider.uniqueName, until: end)
      if let failure = deadline.failure { throw failure }
      // A provider that has answered a message owns its names.
      provider = try await self.provider(provider.uniqueName, until: deadline)
      let time = start.duration(to: .now)
      if time >= Self.timeToBeReady { break }
      guard let answers, !provider.isReadyOnceStarted else { continue }
      let isThere = zip(answers, questions).dropFirst().map { !$0.isUnknown($1) }
      let mayHaveNone = collection == nil || isThere.last == true
      if isThere[0] || mayHaveNone && time >= Self.timeWithoutDefault { break }
      collection = (try? answers[0].get()).map { ObjectPath($0.child(0).text) }
        .flatMap { $0.isNone ? nil : $0 }
      _ = await Waiter.wait(until: .now(plus: .milliseconds(20))) { _ in }
    }
    return provider
  }

  /// The time to wait for each answer of a provider that may be starting.
  private static let timeToAnswer = Duration.milliseconds(500)

  /// The time in which any provider has its collections.
  private static let timeToBeReady = Duration.seconds(2)

  /// The time after which a provider without the object has no default collection, or no objects for aliases.
  private static let timeWithoutDefault = Duration.milliseconds(500)
}

// MARK: - Describing a program

extension BusConnection {
  /// Returns a description of the program that owns a name on the bus.
  static func description(of owner: String, process: Variant?, version: String? = nil) -> String {
    let words: [String?] = [
      process.map {
        let number = $0.child(0).number
        let name = ProcFile.programName(of: number) ?? "a program that can't be seen"
        return "\(name), process \(number)"
      },
      version.map { "version \($0)" },
      "on the bus as \(owner)",
    ]
    return words.compactMap(\.self).joined(separator: ", ")
  }
}

extension Provider {
  /// The messages whose answers show which provider it is.
  static var ownerQuestions: [MethodCall] { names.map { .owner(of: $0) } }

  /// Creates a provider from the answers to ``ownerQuestions``, and maybe to other messages after them.
  init(_ uniqueName: String, answers: [Result<Variant, DBusError>]) {
    self.init(uniqueName, owners: answers.map { try? $0.get().child(0).text })
  }
}

extension Result<Variant, DBusError> {
  fileprivate func isUnknown(_ message: MethodCall) -> Bool {
    if case .failure(let failure) = self { failure.isUnknownObject(of: message) } else { false }
  }
}
#endif
