// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringRuntime
internal import Synchronization

/// The sessions of this process, one for each bus.
///
/// A session is opened when it's first needed. If several calls need it at the same time, one of them opens
/// it and the others wait. Opening several sessions at the same time aborts some providers.
final class SessionCache: Sendable {
  static let shared = SessionCache()

  typealias Answer = (session: SecretSession, answers: [Variant]?, isNew: Bool)

  /// The outcome of opening a session: the failure, or `nil`.
  ///
  /// It's also `nil` if the failure concerns only the call that tried.
  fileprivate typealias Opening = SharedOutcome<SecretSession.OpeningFailure?>

  fileprivate struct Bus {
    let address: String?
    // A session and an opening don't share an enumeration, because leak checkers don't recognize its pointers.
    var session: SecretSession?
    var opening: Opening?
    /// The provider that the process uses on the bus, which may have ended.
    var provider: Provider?
    /// When the current run of unanswered calls began.
    var silence: Int64?
  }

  /// The buses that the process has used, which are few.
  private let buses = Mutex<[Bus]>([])

  /// Returns the open session with the provider on a bus, or opens one.
  ///
  /// - Parameters:
  ///   - address: The address of the bus, or `nil` for the session bus.
  ///   - questions: A closure that returns the messages to send along if a session has to be opened.
  ///   - deadline: The deadline of the call.
  /// - Returns: The session, the answers if the questions were sent and all of them were answered, and whether this
  ///   call has opened the session. Otherwise, it may have been lost since it was last used.
  /// - Throws: The reason why no session can be opened.
  func session(
    at address: String?, asking questions: () -> [MethodCall], until deadline: Deadline
  ) async throws(SecretSession.OpeningFailure) -> Answer {
    while true {
      switch take(address) {
      case .session(let session): return (session, nil, false)
      case .mine(let opening):
        return try await open(address, asking: questions(), opening, until: deadline)
      case .another(let opening): try await opening.check(until: deadline)
      }
    }
  }

  private enum Taken {
    case session(SecretSession)
    /// An opening that the caller has to carry out.
    case mine(Opening)
    case another(Opening)
  }

  private func take(_ address: String?) -> Taken {
    buses.withLock { buses in
      let bus = buses.place(of: address)
      // A session that can't be used for much longer is replaced with a new one.
      if let session = buses[bus].session, !session.connection.isExhausted {
        return .session(session)
      }
      if let opening = buses[bus].opening { return .another(opening) }
      let opening = Opening()
      buses[bus].opening = opening
      // A session with a bus that has ended would keep its files open.
      for other in buses.indices where buses[other].session?.connection.isClosed == true {
        buses[other].session = nil
      }
      return .mine(opening)
    }
  }

  private func open(
    _ address: String?, asking questions: [MethodCall], _ opening: Opening, until deadline: Deadline
  ) async throws(SecretSession.OpeningFailure) -> Answer {
    do throws(SecretSession.OpeningFailure) {
      let opened = try await SecretSession.open(
        address: address, asking: questions, until: deadline)
      buses.withLock { buses in
        let bus = buses.place(of: address)
        (buses[bus].session, buses[bus].opening) = (opened.session, nil)
        buses[bus].silence = nil
      }
      opening.settle(nil)
      KeyringEvent.report(
        .sessionOpened(
          provider: opened.session.provider.keyringName, isEncrypted: opened.session.isEncrypted))
      return (opened.session, opened.answers, true)
    } catch {
      buses.withLock { $0[$0.place(of: address)].opening = nil }
      // A passed deadline or a cancellation concerns only this call. Another waiting call tries next.
      let isMine = error.code == .timedOut || error.code == .canceled
      opening.settle(isMine ? nil : error)
      throw error
    }
  }

  /// Returns the provider of the open session on a bus, or `nil`.
  func provider(at address: String?) -> Provider? {
    buses.withLock { $0[$0.place(of: address)].session?.provider }
  }

  /// Throws an error once if another keyring has taken the place of the one that the process has used.
  ///
  /// The items of the last keyring aren't in the new one, which the next call uses.
  func checkKeyring(of session: SecretSession, at address: String?)
    throws(SecretSession.OpeningFailure)
  {
    let provider = session.provider
    let last = buses.withLock { exchange(&$0[$0.place(of: address)].provider, with: provider) }
    if let last, !provider.isSameKeyring(as: last) { throw .init(last, isFollowedBy: provider) }
  }

  /// Records that a call has ended because the keyring on a bus hadn't answered.
  ///
  /// - Parameters:
  ///   - address: The address of the bus, or `nil` for the session bus.
  ///   - start: The start of the call, in microseconds of the monotonic clock.
  /// - Returns: The name of a keyring that was silent before this call, or `nil` for another one. Calls at
  ///   the same time notice one silence.
  func noteSilence(at address: String?, since start: Int64) -> String? {
    let (first, provider) = buses.withLock { buses in
      let bus = buses.place(of: address)
      let first = buses[bus].silence ?? ThreadExecutor.now
      buses[bus].silence = first
      return (first, buses[bus].session?.provider ?? buses[bus].provider)
    }
    guard first <= start else { return nil }
    return provider.flatMap { $0.isKnown ? $0.keyringName : nil } ?? "the keyring"
  }

  /// Records that the keyring on a bus has answered all messages of a call.
  func endSilence(at address: String?) {
    buses.withLock { $0[$0.place(of: address)].silence = nil }
  }

  /// Removes a lost session, unless another call has already opened a new one.
  func forget(_ session: SecretSession, at address: String?) {
    buses.withLock { buses in
      let bus = buses.place(of: address)
      if buses[bus].session === session { buses[bus].session = nil }
    }
  }
}

extension [SessionCache.Bus] {
  /// Returns the index of a bus, which is new at the first use.
  fileprivate mutating func place(of address: String?) -> Int {
    if let index = firstIndex(where: { $0.address == address }) { return index }
    append(SessionCache.Bus(address: address))
    return count - 1
  }
}
#endif
