// SPDX-License-Identifier: Apache-2.0

import CGtk
import Keyring

/// An app with a window, which keeps an account and a token in the user's keyring.
@main
struct SignInApp {
  private static let name = "org.example.SignIn"

  static func main() {
    SecureStorageDefaults.service = name
    // What the window shows must not wait for the keyring, and never for the user.
    SecureStorageDefaults.storage = SecretServiceStorage(interaction: .never).cached()
    guard let application = gtk_application_new(name, GApplicationFlags(rawValue: 0)) else {
      fatalError("GTK has no application")
    }
    // GTK sends this signal again when the app is started a second time.
    signal_connect_swapped(
      application, "activate",
      { data in
        let application = data.assumingMemoryBound(to: GtkApplication.self)
        if let window = gtk_application_get_active_window(application) {
          gtk_window_present(window)
        } else {
          SignInWindow().assumeIsolated { $0.open() }
        }
      }, application, nil)
    let status = application.withMemoryRebound(to: GApplication.self, capacity: 1) {
      g_application_run($0, CommandLine.argc, CommandLine.unsafeArgv)
    }
    g_object_unref(application)
    exit(status)
  }
}
