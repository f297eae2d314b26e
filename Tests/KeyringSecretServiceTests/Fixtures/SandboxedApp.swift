// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Testing

/// The example `SecureSettings` in a sandbox like that of Flatpak, but without Flatpak.
///
/// The sandbox has the file by which Flatpak's sandboxes are known, and a bus that hides the names that the
/// app has no permission for. The real programs do that: bubblewrap and xdg-dbus-proxy.
final class SandboxedApp {
  private let instance = UUID().uuidString
  private var directory: String { "/tmp/swift-keyring-\(instance)" }
  private var proxy: Program?

  /// The directory of the app's own data.
  var data: String { directory + "/data" }
  var files: [String] {
    get throws {
      try FileManager.default.subpathsOfDirectory(atPath: data)
        .filter { !$0.hasSuffix(".lock") && $0.contains("/") }.sorted()
    }
  }

  /// The complaint of bubblewrap if it can't make a sandbox.
  fileprivate static let obstacle: String? = {
    let command = ["-c", "exec bwrap --dev-bind / / true 2>&1"]
    guard let (status, output) = try? Program("sh", command).finish() else { return "no shell" }
    return status == 0
      ? nil : String(decoding: output, as: UTF8.self).trimmingCharacters(in: .newlines)
  }()

  /// Creates a sandbox.
  ///
  /// - Parameters:
  ///   - bus: The bus of the session.
  ///   - name: The identifier of the app.
  /// - Throws: An error if the sandbox's bus doesn't start.
  init(on bus: PrivateBus, name: String = "org.example.App") throws {
    try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
    try Data("[Application]\nname=\(name)\n\n[Instance]\ninstance-id=\(instance)\n".utf8)
      .write(to: URL(fileURLWithPath: directory + "/info"))
    try allow("org.freedesktop.portal.*", on: bus)
  }

  deinit {
    _ = try? proxy?.end()
    try? FileManager.default.removeItem(atPath: directory)
  }

  /// Starts the sandbox's bus with these names in place of the ones before.
  func allow(_ names: String..., owning: [String] = [], on bus: PrivateBus) throws {
    try proxy?.end()
    try? FileManager.default.removeItem(atPath: directory + "/bus")
    // Version 1.20 of the portal asks this file, which Flatpak writes, for the process in the sandbox.
    let info = bus.directory + "/.flatpak/\(instance)"
    try FileManager.default.createDirectory(atPath: info, withIntermediateDirectories: true)
    // The proxy writes a byte when it's ready.
    let proxy = try Program(
      "sh",
      ["-c", "exec \"$@\" 3>\"$0\"", info + "/bwrapinfo.json"]
        + wrapped(
          ["xdg-dbus-proxy", "--fd=1", bus.address, directory + "/bus", "--filter"]
            + names.map { "--talk=" + $0 } + owning.map { "--own=" + $0 },
          options: ["--info-fd", "3"]))
    self.proxy = proxy
    try #require(proxy.readByte() != nil, "the sandbox's bus didn't start")
  }

  /// Starts the worker in the sandbox.
  func startWorker(_ arguments: String...) throws -> Program {
    let words = wrapped(
      ["env", "-i", "DBUS_SESSION_BUS_ADDRESS=unix:path=\(directory)/bus", Program.workerPath]
        + arguments)
    return try Program(words[0], Array(words.dropFirst()))
  }

  /// Runs the app.
  ///
  /// - Parameters:
  ///   - command: The command of the example.
  ///   - data: The directory of the app's data, by default its own.
  /// - Returns: The status and the output, with what the app wrote to standard error.
  /// - Throws: An error if the app doesn't start.
  func run(_ command: String, data: String? = nil) throws -> (status: Int32, text: String) {
    let words = wrapped([
      "env", "-i", "DBUS_SESSION_BUS_ADDRESS=unix:path=\(directory)/bus",
      "XDG_DATA_HOME=\(data ?? self.data)", "sh", "-c", "exec \"$0\" \"$1\" 2>&1",
      Program.path(of: "SecureSettings"), command,
    ])
    let (status, output) = try Program(words[0], Array(words.dropFirst())).finish()
    return (status, String(decoding: output, as: UTF8.self))
  }

  /// Returns a command that runs another one in the sandbox.
  ///
  /// Each directory of the root is bound by itself, because a bound root would get the file of the sandbox.
  private func wrapped(_ command: [String], options: [String] = []) -> [String] {
    let manager = FileManager.default
    let root = (try? manager.contentsOfDirectory(atPath: "/"))?.map { "/" + $0 } ?? []
    let directories = root.flatMap { path in
      if let target = try? manager.destinationOfSymbolicLink(atPath: path) {
        return ["--symlink", target, path]
      }
      return [path == "/dev" ? "--dev-bind" : "--bind", path, path]
    }
    return ["bwrap", "--die-with-parent"] + options + directories + [
      "--ro-bind", directory + "/info", "/.flatpak-info",
    ] + command
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips the test, and gives bubblewrap's own reason, if no app can be put into a sandbox.
  static var withSandbox: Self {
    .enabled(if: SandboxedApp.obstacle == nil, SandboxedApp.obstacle.map { Comment(rawValue: $0) })
  }
}

/// The desktop's portal, xdg-desktop-portal, which gets the secrets of apps from gnome-keyring.
final class DesktopPortal {
  private let program: Program

  init(on bus: PrivateBus) throws {
    let paths = ["/usr/libexec/xdg-desktop-portal", "/usr/lib/xdg-desktop-portal"]
    program = try Program(
      try #require(paths.first(where: FileManager.default.isExecutableFile)),
      environment: bus.environment.merging([
        "XDG_CURRENT_DESKTOP": "GNOME", "XDG_RUNTIME_DIR": bus.directory,
      ]) { $1 },
      complaints: .nullDevice)
    try bus.wait(for: "org.freedesktop.portal.Desktop")
  }

  deinit { _ = try? program.end() }
}
#endif
