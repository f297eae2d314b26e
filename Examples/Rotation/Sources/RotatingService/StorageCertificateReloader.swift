// SPDX-License-Identifier: Apache-2.0

import Keyring
import Logging
import NIOCertificateReloading
import NIOSSL
import ServiceLifecycle
import Synchronization

struct TLSSettings {
  @Password("tls.crt") var certificates: String?
  @Password("tls.key") var key: String?
}

/// A server's key and certificate, for each new connection those that the storage has.
final class StorageCertificateReloader: CertificateReloader, Service {
  private let settings = TLSSettings()
  private let pair = Mutex(NIOSSLContextConfigurationOverride())
  var sslContextConfigurationOverride: NIOSSLContextConfigurationOverride { pair.withLock { $0 } }
  init() async throws { try await reload() }

  func run() async throws {
    let changes = try await SecureProperties(of: settings).changes.cancelOnGracefulShutdown()
    try await reload()  // what has changed since the first read
    for await _ in changes {
      do { try await reload() } catch { Logger(label: "TLS").error("The old pair stays: \(error)") }
    }
  }

  private func reload() async throws {
    let values = try await SecureProperties(of: settings).readAll()  // both are of one version
    let certificates = Array((try values[settings.$certificates] ?? "").utf8)
    let key = Array((try values[settings.$key] ?? "").utf8)
    let new = TLSConfiguration.makeServerConfiguration(
      certificateChain: try NIOSSLCertificate.fromPEMBytes(certificates).map { .certificate($0) },
      privateKey: .privateKey(try NIOSSLPrivateKey(bytes: key, format: .pem)))
    _ = try NIOSSLContext(configuration: new)  // refuses a key of another certificate
    pair.withLock { ($0.certificateChain, $0.privateKey) = (new.certificateChain, new.privateKey) }
  }
}
