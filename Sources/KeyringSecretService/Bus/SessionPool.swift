#if SecretService && os(Linux)
internal import KeyringStorage

/// The sessions of this process, one for each bus, opened when first needed.
///
/// However many threads ask at once, one of them opens and the others wait: several sessions opened
/// side by side abort some versions of gnome-keyring.
final class SessionPool: Sendable {
  static let shared = SessionPool()

  private enum Entry {
    case opening
    case open(SecretSession)
    /// An opening has failed, for everybody who waited for it.
    case failed(SecretSession.OpeningFailure)
  }

  private struct State {
    var entries: [String?: Entry] = [:]
  }

  private let monitor = Monitor(State())

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
  ) throws(SecretSession.OpeningFailure) -> (session: SecretSession, answers: [Variant]?) {
    enum Turn {
      case use(SecretSession)
      case open
      case fail(SecretSession.OpeningFailure)
    }
    var didWait = false
    let turn: Turn? = monitor.wait(until: deadline) { state in
      switch state.entries[address] {
      case .open(let session): return .use(session)
      case .failed(let failure) where didWait: return .fail(failure)
      case .opening:
        didWait = true
        return nil
      case .failed, nil:
        state.entries[address] = .opening
        return .open
      }
    }
    switch turn {
    case .use(let session): return (session, nil)
    case .fail(let failure): throw failure
    case nil: throw SecretSession.OpeningFailure(deadline.failure ?? .timedOut)
    case .open: return try open(address, asking: questions(), until: deadline)
    }
  }

  private func open(
    _ address: String?, asking questions: [Message], until deadline: Deadline
  ) throws(SecretSession.OpeningFailure) -> (session: SecretSession, answers: [Variant]?) {
    do throws(SecretSession.OpeningFailure) {
      let opened = try SecretSession.open(address: address, asking: questions, until: deadline)
      monitor.withLock { $0.entries[address] = .open(opened.session) }
      return opened
    } catch {
      // Out of time or cancelled is this caller only: somebody else who waits tries next.
      let isMine = error.code == .timedOut || error.code == .canceled
      let entry: Entry? = isMine ? nil : .failed(error)
      monitor.withLock { $0.entries[address] = entry }
      throw error
    }
  }

  /// Forgets a session that was lost, unless another thread has opened a new one meanwhile.
  func forget(_ session: SecretSession, at address: String?) {
    monitor.withLock { state in
      if case .open(let current) = state.entries[address], current === session {
        state.entries[address] = nil
      }
    }
  }
}
#endif
