// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import Testing

/// A message bus for one test, which can be killed and started again at the same address.
final class PrivateBus {
  /// The directory of the bus, which is the runtime directory of the desktop's portal.
  let directory = "/tmp/swift-keyring-\(UUID().uuidString)"
  private let user: String?
  private var program: Program?

  var address: String { "unix:path=\(directory)/bus" }
  var environment: [String: String] { ["DBUS_SESSION_BUS_ADDRESS": address] }

  /// Starts a bus without a provider.
  ///
  /// - Parameters:
  ///   - activation: The command that the bus starts to provide the names.
  ///   - names: The names that the command provides, by default that of the Secret Service.
  ///   - user: The owner of the bus, by default the user who runs the tests. Only root can choose
  ///     another user.
  /// - Throws: An error if the bus doesn't start.
  init(
    activation: String? = nil, of names: [String] = ["org.freedesktop.secrets"],
    user: String? = nil
  ) throws {
    self.user = user
    try FileManager.default.createDirectory(
      atPath: directory + "/services", withIntermediateDirectories: true)
    try Data(
      """
      <busconfig><type>session</type><listen>\(address)</listen><auth>EXTERNAL</auth>
      <servicedir>\(directory)/services</servicedir><policy context="default">
      <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
      </policy></busconfig>
      """.utf8
    ).write(to: URL(fileURLWithPath: directory + "/bus.conf"))
    for name in names {
      guard let activation else { break }
      try Data("[D-BUS Service]\nName=\(name)\nExec=\(activation)\n".utf8)
        .write(to: URL(fileURLWithPath: directory + "/services/\(name).service"))
    }
    if let user {
      try #require(Program("chown", ["-R", user, directory]).finish().status == 0)
    }
    try start()
  }

  deinit {
    try? kill()
    try? FileManager.default.removeItem(atPath: directory)
  }

  /// Starts a bus, and a provider on it.
  static func with<Service>(
    _ start: (PrivateBus) throws -> Service
  ) throws -> (PrivateBus, Service) {
    let bus = try PrivateBus()
    return (bus, try start(bus))
  }

  /// Starts the bus again after ``kill()``.
  func start() throws {
    let words = (user.map { ["setpriv", "--reuid", $0, "--clear-groups"] } ?? []) + ["dbus-daemon"]
    let program = try Program(
      words[0],
      words.dropFirst() + [
        "--nofork", "--print-address", "--config-file", directory + "/bus.conf",
      ],
      complaints: .nullDevice)
    self.program = program
    try #require(program.readLine().hasPrefix(address), "the bus did not start")
  }

  func kill() throws {
    try program?.end()
    program = nil
  }

  /// Stops the bus where it is, or lets it go on.
  func suspend(_ isSuspended: Bool = true) { program?.suspend(isSuspended) }

  /// Returns a storage on this bus, which may be used without encryption, as the fake service needs it.
  func storage(
    _ interaction: SecretServiceStorage.Interaction = .allowed,
    in collection: SecretServiceStorage.Collection = .default,
    serviceTimeout: Duration = .seconds(25), promptTimeout: Duration = .seconds(25)
  ) -> SecretServiceStorage {
    SecretServiceStorage(
      options: .init(
        collection: collection, interaction: interaction, serviceTimeout: serviceTimeout,
        promptTimeout: promptTimeout, busAddress: address, allowsUnencryptedSession: true))
  }

  /// Calls a method, by default of the bus itself, and returns the answer as text, or `nil` if it's an error.
  func call(
    _ method: String, _ arguments: [String], of name: String = "org.freedesktop.DBus",
    at path: String = "/"
  ) throws -> String? {
    let call = try Program(
      "gdbus",
      ["call", "--session", "--dest", name, "--object-path", path, "--method", method] + arguments,
      environment: environment, complaints: .nullDevice)
    let (status, output) = try call.finish()
    return status == 0 ? String(decoding: output, as: UTF8.self) : nil
  }

  /// Makes the bus start the program that provides a name.
  func start(_ name: String) throws {
    try #require(
      call("org.freedesktop.DBus.StartServiceByName", [name, "0"]) != nil,
      "no program was started for the name \(name)")
  }

  /// The process that provides the Secret Service, if any.
  func providerProcess() throws -> pid_t? {
    let method = "org.freedesktop.DBus.GetConnectionUnixProcessID"
    // The answer is "(uint32 1234,)".
    return try call(method, ["org.freedesktop.secrets"])?.split(separator: " ").last
      .flatMap { pid_t($0.prefix(while: \.isNumber)) }
  }

  /// Waits until a program owns a name.
  func wait(for name: String) throws {
    let waiting = try Program(
      "gdbus", ["wait", "--session", "--timeout", "60", name], environment: environment)
    try #require(waiting.finish().status == 0, "no program has taken the name \(name)")
  }
}

extension [String: String] {
  /// The environment of a provider that has all its files in one directory.
  static func ofProvider(at home: String) -> [String: String] {
    let names = ["HOME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME"]
    return Dictionary(uniqueKeysWithValues: names.map { ($0, home) })
  }
}
#endif
