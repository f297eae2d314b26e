#if SecretService && os(Linux)
internal import KeyringStorage
internal import Synchronization

/// The sessions of this process, one for each bus, opened when first needed.
///
/// However many calls ask at once, one of them opens and the others wait: several sessions opened
/// side by side abort some versions of gnome-keyring.
final class SessionPool: Sendable {
  static let shared = SessionPool()

  typealias Answer = (session: SecretSession, answers: [Variant]?)

  /// Why a session could not be opened; `nil` if it could, or if only the one who has tried failed.
  private typealias Opening = SharedOutcome<SecretSession.OpeningFailure?>

  private struct State {
    // Not in one enumeration with the openings: a search for leaks doesn't know the pointers in that.
    var sessions: [String?: SecretSession] = [:]
    var openings: [String?: Opening] = [:]
  }

  private let state = Mutex(State())

  /// The open session with the provider on a bus.
  ///
  /// - Parameters:
  ///   - address: The address of the bus; `nil` for the session bus.
  ///   - questions: Messages to send along if a session has to be opened.
  ///   - deadline: When to give up.
  /// - Returns: The session, which may have been lost since it was last used; and the answers, if the
  ///   questions were sent and all of them answered.
  /// - Throws: Why none could be opened.
  func session(
    at address: String?, asking questions: () -> [Message], until deadline: Deadline
  ) async throws(SecretSession.OpeningFailure) -> Answer {
    while true {
      switch take(address) {
      case .session(let session): return (session, nil)
      case .mine(let opening):
        return try await open(address, asking: questions(), opening, until: deadline)
      case .another(let opening):
        do throws(BusFailure) {
          try await opening.wait(until: deadline)
        } catch {
          throw SecretSession.OpeningFailure(error)
        }
        if case .some(let failure?) = opening.value { throw failure }
      }
    }
  }

  private enum Taken {
    case session(SecretSession)
    /// To be opened by who has taken it.
    case mine(Opening)
    case another(Opening)
  }

  private func take(_ address: String?) -> Taken {
    state.withLock { state in
      // A session that can't be used for much longer makes room for another.
      if let session = state.sessions[address], !session.connection.isExhausted {
        return .session(session)
      }
      if let opening = state.openings[address] { return .another(opening) }
      let opening = Opening()
      state.openings[address] = opening
      return .mine(opening)
    }
  }

  private func open(
    _ address: String?, asking questions: [Message], _ opening: Opening, until deadline: Deadline
  ) async throws(SecretSession.OpeningFailure) -> Answer {
    do throws(SecretSession.OpeningFailure) {
      let opened = try await SecretSession.open(
        address: address, asking: questions, until: deadline)
      state.withLock { state in
        state.sessions[address] = opened.session
        state.openings[address] = nil
      }
      opening.settle(nil)
      return opened
    } catch {
      state.withLock { $0.openings[address] = nil }
      // Out of time or cancelled is this caller only: somebody else who waits tries next.
      let isMine = error.code == .timedOut || error.code == .canceled
      opening.settle(isMine ? nil : error)
      throw error
    }
  }

  /// Forgets a session that was lost, unless another call has opened a new one meanwhile.
  func forget(_ session: SecretSession, at address: String?) {
    state.withLock { state in
      if state.sessions[address] === session { state.sessions[address] = nil }
    }
  }
}
#endif
