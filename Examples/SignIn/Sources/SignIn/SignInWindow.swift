// SPDX-License-Identifier: Apache-2.0

import CGtk
import Keyring
import Observation
import SignInModel

/// The window, which shows the model and passes on what the user does.
///
/// The window is an actor on GTK's thread. Its tasks wait for the keyring there, without blocking the main loop.
actor SignInWindow {
  nonisolated var unownedExecutor: UnownedSerialExecutor { MainContextExecutor.unowned }

  /// The model, whose actions may ask the user.
  private let model = SignInModel(asking: SecretServiceStorage())
  /// The objects of the layout, which live as long as the program.
  private let builder: OpaquePointer
  private let login: BoundEntry
  private let password: BoundEntry
  private let token: BoundEntry
  /// The task of the current action, which the button Cancel cancels.
  private var action: Task<Void, Never>?

  init() {
    // The layout is a part of the executable.
    let layout = PackageResources.window_ui
    builder = layout.withUnsafeBytes {
      gtk_builder_new_from_string($0.bindMemory(to: CChar.self).baseAddress, gssize($0.count))
    }
    login = BoundEntry(Widget("login", in: builder))
    password = BoundEntry(Widget("password", in: builder))
    token = BoundEntry(Widget("token", in: builder))
  }

  private func widget(_ name: String) -> Widget { Widget(name, in: builder) }

  /// Shows the window, and keeps it up to date from now on.
  func open() {
    connectSignals()
    follow()
    widget("window").pointer.withMemoryRebound(to: GtkWindow.self, capacity: 1) {
      // The application ends when its last window is closed.
      gtk_window_set_application(
        $0, UnsafeMutablePointer(OpaquePointer(g_application_get_default())))
      gtk_window_present($0)
    }
  }

  // MARK: - From the user to the model

  private func connectSignals() {
    widget("signIn").on("clicked", tell: self) { $0.signIn() }
    widget("signOut").on("clicked", tell: self) { $0.perform { await $0.signOut() } }
    widget("saveToken").on("clicked", tell: self) { $0.saveToken() }
    widget("token").on("activate", tell: self) { $0.saveToken() }
    widget("removeToken").on("clicked", tell: self) { $0.perform { await $0.save(token: nil) } }
    widget("lock").on("clicked", tell: self) { $0.perform { await $0.lock() } }
    widget("unlock").on("clicked", tell: self) { $0.perform { await $0.unlock() } }
    widget("cancel").on("clicked", tell: self) { $0.action?.cancel() }
    for name in ["login", "password", "token"] {
      widget(name).on("changed", tell: self) { $0.showButtons() }
    }
    // The keyring doesn't tell when it's locked or unlocked. A user who has done that in another window
    // comes back to this one.
    widget("window").on("notify::is-active", tell: self) { $0.refresh() }
  }

  private func signIn() {
    let (login, password) = (login.text, password.text)
    perform { await $0.signIn(login: login, password: password) }
  }

  private func saveToken() {
    let token = token.text
    if !token.isEmpty { perform { await $0.save(token: token) } }
  }

  /// Starts an action of the model, and shows its result.
  private func perform(_ body: @escaping (SignInModel) async -> Void) {
    guard action == nil else { return }
    action = Task {
      await body(model)
      action = nil
    }
  }

  private func refresh() { Task { await model.refresh() } }

  // MARK: - From the model to the user

  /// Shows the model, and shows it again after each change by this or another program.
  private func follow() {
    Task {
      for await _ in Observations({ self.show() }) {
        // This waits for the keyring, without blocking the main loop. The values are then in the cache.
        await model.refresh()
      }
    }
  }

  private func show() {
    login.show(model.account?.login ?? "")
    password.show(model.account?.password ?? "")
    token.show(model.token ?? "")
    showStatus()
    showFailure()
    showButtons()
  }

  private func showStatus() {
    let isLocked = model.keyring == .locked
    let (icon, text) =
      switch model.keyring {
      case .unknown: ("content-loading-symbolic", "Looking for the keyring…")
      case .unlocked: ("changes-allow-symbolic", "The keyring is unlocked.")
      case .locked: ("changes-prevent-symbolic", "The keyring is locked.")
      case .unavailable: ("dialog-warning-symbolic", "The keyring can’t be used.")
      }
    widget("keyringIcon").setIcon(icon)
    widget("keyringState").setLabel(text)
    widget("idle").isVisible = !model.isBusy
    widget("busy").isVisible = model.isBusy
    widget("lock").isVisible = model.keyring == .unlocked
    widget("unlock").isVisible = isLocked
    widget("accountState").setLabel(
      model.account.map { "Signed in as \($0.login)" }
        ?? (isLocked ? "Hidden while the keyring is locked" : "Signed out"))
    widget("tokenState").setLabel(
      model.token != nil
        ? "A token is stored" : isLocked ? "Hidden while the keyring is locked" : "No token")
  }

  /// Shows the error of the last action, or else the reason why the keyring can't be used, and all findings about it.
  private func showFailure() {
    var failure = model.failure
    if failure == nil, case .unavailable(let error) = model.keyring { failure = error }
    widget("failure").isVisible = failure != nil
    guard let failure else { return }
    widget("failureMessage").setLabel(failure.message)
    widget("failureSuggestion").setLabel(failure.recoverySuggestion ?? "")
    widget("diagnosis").isVisible = model.diagnosis != nil
    widget("diagnosis").setLabel(model.diagnosis.map { "\($0)" } ?? "")
  }

  private func showButtons() {
    let isIdle = !model.isBusy
    let isFilledIn = !login.text.isEmpty && !password.text.isEmpty
    widget("signIn").isSensitive = isIdle && isFilledIn && (login.isEdited || password.isEdited)
    widget("signOut").isSensitive = isIdle && (model.account != nil || model.token != nil)
    widget("saveToken").isSensitive = isIdle && token.isEdited && !token.text.isEmpty
    widget("removeToken").isSensitive = isIdle && model.token != nil
  }
}
