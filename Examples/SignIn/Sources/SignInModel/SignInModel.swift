// SPDX-License-Identifier: Apache-2.0

public import Keyring
import KeyringStorage

/// The content of the window, and what the user can do there.
///
/// The model isn't bound to a thread or an actor. Its asynchronous methods run where their caller runs: on
/// GTK's thread in the app, and anywhere in a test. While they wait for the keyring, the caller isn't blocked.
public final class SignInModel {
  /// The state of the keyring.
  public private(set) var keyring = KeyringState.unknown
  /// The stored account, or `nil` if there is none or if the keyring is locked.
  public private(set) var account: Credential?
  /// The stored token, or `nil` if there is none or if the keyring is locked.
  public private(set) var token: String?
  /// The error of the last action, or `nil` if it succeeded.
  public private(set) var failure: SecureStorageError?
  /// Indicates whether an action is waiting for the keyring, or for the user to answer the keyring's prompt.
  public private(set) var isBusy = false
  /// The closure to call after each change of the properties above.
  public var onChange: () -> Void = {}

  private let settings = SecureSettings()
  private var isRefreshing = false
  private var needsRefresh = false

  /// Creates a model that has asked the keyring nothing yet.
  public init() {}

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
    onChange()
    do throws(SecureStorageError) {
      try await action()
    } catch {
      // A user who has cancelled the action knows that.
      failure = error.code == .canceled ? nil : error
    }
    isBusy = false
    onChange()
  }

  // MARK: - State

  /// Reads the account and the token again after each change, until the task is cancelled.
  ///
  /// The changes include those by other programs.
  public func follow() async {
    do throws(SecureStorageError) {
      let changes = try await SecureProperties(of: settings).changes
      // The stream comes first, so that no change goes unnoticed between the two.
      await refresh()
      for await _ in changes { await refresh() }
    } catch {
      keyring = .unavailable(error)
      onChange()
    }
  }

  /// Reads the state of the keyring, the account and the token.
  ///
  /// It never causes a prompt, because the user hasn't asked for anything.
  public func refresh() async {
    needsRefresh = true
    // Two readers at the same time could finish in the wrong order, and leave an old value.
    guard !isRefreshing else { return }
    isRefreshing = true
    while needsRefresh {
      needsRefresh = false
      do throws(SecureStorageError) {
        try await read()
      } catch {
        (account, token) = (nil, nil)
        keyring = .unavailable(error)
      }
    }
    isRefreshing = false
    onChange()
  }

  private func read() async throws(SecureStorageError) {
    if try await lockable?.isLocked() ?? false {
      (account, token) = (nil, nil)
      keyring = .locked
    } else {
      account = try await settings.$account.read()
      token = try await settings.$token.read()
      keyring = .unlocked
    }
  }

  /// The storage of the properties, if it can be locked.
  private var lockable: (any LockableStorage)? { settings.$account.storage as? any LockableStorage }
}
