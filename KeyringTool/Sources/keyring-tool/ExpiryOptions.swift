// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyringToolCommands

/// The option for the time at which a secret expires.
struct ExpiryOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      The time at which the secret expires: "90d" from now (also "s", "m", "h" and "w"), a day \
      such as "2026-12-31", or a time such as "2026-12-31T23:59:59Z" or "2026-12-31T23:59:59+01:00".
      """,
      discussion: """
        The attribute "expires" keeps the time, unencrypted and in UTC. An expired secret is still there: \
        "list --expired" finds it. Without this option, the secret doesn't expire.
        """,
      valueName: "time"),
    transform: { text in
      guard let time = ExpiryTime(text) else { throw ValidationError("It isn't a time.") }
      return time
    })
  var expires: ExpiryTime?
}
