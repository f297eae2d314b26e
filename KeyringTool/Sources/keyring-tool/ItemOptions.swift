// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Keyring
import KeyringToolCommands

/// The arguments and options that select one or more items.
struct ItemOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("The same as --service.", valueName: "service"))
  var serviceArgument: String?

  @Argument(help: ArgumentHelp("The same as --account.", valueName: "account"))
  var accountArgument: String?

  @Option(help: "The service that the item belongs to.")
  var service: String?

  @Option(help: "The account of a password, a value, or an internet password.")
  var account: String?

  @Option(help: "The access group of a password or a value.")
  var accessGroup: String?

  @Option(help: "The label of a credential within its service.")
  var credential: String?

  @Option(help: "The server of an internet password.")
  var server: String?

  @Option(help: "The port of the server.")
  var port: UInt16?

  @Option(help: "The protocol, which is the scheme of the server's URLs.")
  var `protocol`: String?

  @Option(help: "The path on the server.")
  var path: String?

  @Option(help: "The security domain, or realm, of the server.")
  var domain: String?

  @Option(help: "The authentication method, such as \"http-basic\".")
  var authentication: String?

  @Flag(help: "Select a value instead of a password.")
  var value = false

  @Option(
    help: ArgumentHelp(
      "A part of the key that has no option here. You can repeat this.", valueName: "name=value"))
  var attribute: [String] = []

  @Option(help: "The schema by which another program finds the item.")
  var schema: String?

  func validate() throws {
    if serviceArgument != nil, service != nil || server != nil {
      throw ValidationError("Specify a service as an argument, or --service or --server.")
    }
    if accountArgument != nil, account != nil {
      throw ValidationError("Specify the account as an argument, or with --account.")
    }
    let hasParts = [port.map(String.init), `protocol`, path, domain, authentication]
      .contains { $0 != nil }
    if server == nil, hasParts {
      throw ValidationError(
        "Use --port, --protocol, --path, --domain and --authentication only with --server.")
    }
    let names = attributes.map(\.name)
    guard attribute.allSatisfy({ $0.contains("=") }), Set(names).count == names.count else {
      throw ValidationError("Write --attribute NAME=VALUE, once for each name.")
    }
    do {
      try selection().check()
    } catch {
      throw ValidationError(error.message)
    }
  }

  /// Throws an error if anything but a service is named.
  func checkIsServiceOnly() throws {
    let others = [
      accountArgument, account, accessGroup, credential, server, value ? "" : nil, schema,
      attribute.first,
    ]
    if others.contains(where: { $0 != nil }) {
      throw ValidationError("With a file, name only the service, and values with --only.")
    }
  }

  /// Throws an error unless a credential and only a credential has a login.
  func check(login: String?) throws {
    if (credential == nil) != (login == nil) {
      throw ValidationError("Specify --credential and --login together.")
    }
  }

  private var attributes: [(name: String, value: String)] {
    attribute.map { text in
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (String(parts[0]), parts.count == 2 ? String(parts[1]) : "")
    }
  }

  func selection() -> ItemSelection {
    ItemSelection(
      service: serviceArgument ?? service, account: accountArgument ?? account,
      accessGroup: accessGroup, credential: credential,
      server: server.map { host in
        InternetServer(
          host, port: port, path: path, securityDomain: domain,
          protocol: `protocol`.map { InternetServer.Scheme(rawValue: $0) },
          authenticationType: authentication.map { InternetServer.AuthenticationType(rawValue: $0) }
        )
      },
      isValue: value, attributes: Dictionary(attributes) { $1 }, schema: schema)
  }
}
