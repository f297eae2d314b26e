// SPDX-License-Identifier: Apache-2.0

public import Keyring
public import KeyringStorage
public import Observation

/// The content of the window, and what the user can do there.
///
/// Track it with `Observations` or `withObservationTracking` to be notified of each change, also of the account and the
/// token, by any program.
///
/// The model isn't bound to a thread or an actor. Its asynchronous methods run where their caller runs: on
/// GTK's thread in the app, and anywhere in a test. While they wait for the keyring, the caller isn't blocked.
@Observable
public final class SignInModel {
  /// The state of the keyring.
  public private(set) var keyring = KeyringState.unknown
  /// The stored account, or `nil` if there is none or if the keyring is locked.
  public var account: Credential? { keyring == .unlocked ? settings.account : nil }
  /// The stored token, or `nil` if there is none or if the keyring is locked.
  public var token: String? { keyring == .unlocked ? settings.token : nil }
  /// The findings about a keyring that can't be used, or `nil` for one that can.
  public private(set) var diagnosis: StorageDiagnosis?
  /// The error of the last action, or `nil` if it succeeded.
  public private(set) var failure: SecureStorageError?
  /// Whether an action is waiting for the keyring, or for the user to answer the keyring's prompt.
  public private(set) var isBusy = false

  private let settings = SecureSettings()
  private let asking: (any SecureStorage)?
  @ObservationIgnored private var isRefreshing = false
  @ObservationIgnored private var needsRefresh = false

  /// Creates a model that has asked the keyring nothing yet.
  ///
  /// - Parameter storage: The storage of the actions, which may ask the user. By default, it's the one that the account
  ///   and the token are read from.
  public init(asking storage: (any SecureStorage)? = nil) { asking = storage }

  // MARK: - Actions

  /// Stores the account, and unlocks the keyring if necessary.
  public func signIn(login: String, password: String) async {
    await perform { () async throws(SecureStorageError) in
      try await settings.$account.write(Credential(login: login, password: password))
    }
  }

  /// Removes the account and the token.
  public func signOut() async {
    await perform { () async throws(SecureStorageError) in
      _ = try await SecureProperties(of: settings).removeAll()
    }
  }

  /// Stores the token, or removes it if it's `nil`.
  public func save(token: String?) async {
    await perform { () async throws(SecureStorageError) in
      try await settings.$token.write(token)
    }
  }

  /// Unlocks the keyring, which asks the user for its password.
  public func unlock() async {
    await perform { () async throws(SecureStorageError) in
      try await lockable?.unlock()
    }
  }

  /// Locks the keyring.
  public func lock() async {
    await perform { () async throws(SecureStorageError) in
      try await lockable?.lock()
    }
  }

  private func perform(_ action: () async throws(SecureStorageError) -> Void) async {
    guard !isBusy else { return }
    isBusy = true
    failure = nil
    do throws(SecureStorageError) {
      try await withSecureStorage(asking ?? settings.$account.storage, operation: action)
    } catch {
      // A user who has cancelled the action knows that.
      failure = error.code == .canceled ? nil : error
    }
    isBusy = false
  }

  // MARK: - State

  /// Reads the state of the keyring, the account and the token.
  ///
  /// A cache then has the account and the token, so that reading them again doesn't wait for the keyring.
  public func refresh() async {
    needsRefresh = true
    // Two readers at the same time could finish in the wrong order, and leave an old value.
    guard !isRefreshing else { return }
    isRefreshing = true
    while needsRefresh {
      needsRefresh = false
      do throws(SecureStorageError) {
        try await read()
        diagnosis = nil
      } catch {
        // The same error has the same causes.
        if keyring == .unavailable(error) { continue }
        keyring = .unavailable(error)
        diagnosis = try? await settings.$account.storage.diagnose()
      }
    }
    isRefreshing = false
  }

  private func read() async throws(SecureStorageError) {
    if try await lockable?.isLocked() ?? false {
      keyring = .locked
    } else {
      _ = try await settings.$account.read()
      _ = try await settings.$token.read()
      keyring = .unlocked
    }
  }

  /// The storage of the properties, if it can be locked.
  private var lockable: (any LockableStorage)? { settings.$account.storage as? any LockableStorage }
}
