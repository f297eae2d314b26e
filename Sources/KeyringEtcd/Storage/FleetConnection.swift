// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringRuntime
internal import KeyringStorage
internal import NIOSSL
internal import Synchronization

/// The connection to the cluster, which the first operation opens, and the place of the namespace there.
final class FleetConnection: Sendable {
  private let settings: FleetSettings
  private let transport: (any EtcdTransport)?
  private let onOtherHistory: @Sendable () -> Void
  private let current = Mutex<(client: EtcdClient, namespace: Namespace)?>(nil)

  /// Creates a connection that the first operation opens.
  ///
  /// - Parameters:
  ///   - settings: The settings of the storage.
  ///   - transport: The way to send requests, or `nil` for the JSON gateway.
  ///   - onOtherHistory: A closure that is called when the cluster was restored from a backup.
  init(
    _ settings: FleetSettings, _ transport: (any EtcdTransport)?,
    onOtherHistory: @escaping @Sendable () -> Void
  ) {
    (self.settings, self.transport) = (settings, transport)
    self.onOtherHistory = onOtherHistory
  }

  /// Returns the client and the namespace, and checks the settings the first time.
  func open() throws(SecureStorageError) -> (EtcdClient, Namespace) {
    try current.withLock { (current) throws(SecureStorageError) in
      if let current { return current }
      guard let namespace = Namespace(settings.namespace) else {
        throw settings.error(
          .invalidArgument,
          """
          The argument "namespace" must consist of letters, digits, "-", ".", "_" and "/", and no part between \
          slashes may be empty or "v1".
          """,
          argument: "namespace")
      }
      let endpoints = settings.endpoints.compactMap { EtcdEndpoint($0) }
      guard !endpoints.isEmpty, endpoints.count == settings.endpoints.count else {
        throw settings.error(
          .invalidArgument,
          "The argument \"endpoints\" must be addresses such as https://etcd-1.example.org:2379.",
          argument: "endpoints")
      }
      try checkEncryption(of: endpoints)
      // Without the descriptors and the threads of its two loops, NIO ends the process.
      if transport == nil, let shortage = Shortage.before(descriptors: 8, threads: 4) {
        throw settings.error(shortage)
      }
      let transport: any EtcdTransport =
        if let transport { transport } else { HTTPTransport(try tlsConfiguration()) }
      let client = EtcdClient(
        transport, endpoints, user: settings.user, onOtherHistory: onOtherHistory)
      let new = (client, namespace)
      current = new
      return new
    }
  }

  /// Refuses addresses to which a password would go without encryption.
  private func checkEncryption(of endpoints: [EtcdEndpoint]) throws(SecureStorageError) {
    let plain = endpoints.filter { !$0.isEncrypted }
    if plain.isEmpty { return }
    let isMixed = plain.count < endpoints.count
    let isExposed = settings.tls != nil || settings.user != nil
    guard isMixed || isExposed && !plain.allSatisfy(\.isLoopback) else { return }
    throw settings.error(
      .invalidArgument,
      isMixed
        ? "The addresses must all begin with https://, or all with http://."
        : "The password or the certificate is for encrypted connections, but an address begins with http://.",
      recoverySuggestion:
        """
        Use https:// in \(plain.map(\.description).joined(separator: ", ")). Only a node on this machine needs no \
        encryption.
        """,
      argument: "endpoints")
  }

  private func tlsConfiguration() throws(SecureStorageError) -> TLSConfiguration? {
    do throws(FileFailure) {
      return try settings.tls?.configuration()
    } catch {
      throw settings.error(
        .invalidArgument, "The file \(error.problem).",
        recoverySuggestion: "It must be readable, and in the PEM format.", argument: "tls",
        underlying: error.underlying)
    }
  }
}
#endif
