// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Foundation
import KeyringCore
import KeyringRuntime
import KeyringStorage
import NIOSSL
import Synchronization
import TestPrograms
import Testing

@testable import KeyringEtcd

/// A cluster of three nodes with encrypted connections, which ends with the tests.
final class Cluster: Sendable {
  /// A node, which can be killed and started again.
  final class Node: Sendable {
    let endpoint: String
    private let index: Int
    private let arguments: [String]
    private let network: PeerNetwork?
    private let environment: [String: String]
    private let program = Mutex<Program?>(nil)
    private let lastLine = Mutex("")

    /// The address for the other nodes.
    var peerEndpoint: String? {
      arguments.firstIndex(of: "--listen-peer-urls").map { arguments[$0 + 1] }
    }

    /// The line of the log that says that the node serves clients.
    var readyLine: String { lastLine.withLock { $0 } }

    init(
      _ index: Int, endpoint: String, _ arguments: [String], _ network: PeerNetwork?,
      environment: [String: String]
    ) {
      (self.index, self.endpoint) = (index, endpoint)
      (self.arguments, self.network) = (arguments, network)
      self.environment = (network?.environment(of: index) ?? [:]).merging(environment) { $1 }
    }

    /// Starts the node, and returns a semaphore that it signals when it serves clients.
    func start() throws -> DispatchSemaphore {
      // A node may live longer than the tests. If it had their output, "swift test" would wait for its end.
      let silence = FileHandle(forWritingAtPath: "/dev/null") ?? .standardError
      let program = try Program(
        "etcd", arguments, environment: environment, complaints: silence)
      self.program.withLock { $0 = program }
      let isReady = DispatchSemaphore(value: 0)
      // Without a reader of its log, the node would block.
      Thread { [weak self] in
        while let line = try? program.readLine(patience: -1) {
          guard line.contains("serving client traffic") else { continue }
          self?.lastLine.withLock { $0 = line }
          isReady.signal()
        }
      }.start()
      return isReady
    }

    func suspend(_ isSuspended: Bool = true) {
      program.withLock { $0?.suspend(isSuspended) }
    }

    /// Cuts the node off from the others, or connects it again.
    func isolate(_ isIsolated: Bool = true) throws {
      try #require(network).isolate(index, isIsolated)
    }

    /// Replaces the data of the node with that of a backup.
    ///
    /// - Parameters:
    ///   - snapshot: The path of the backup.
    ///   - token: A text that gives the cluster another identifier, or `nil` for the one that it had at first.
    /// - Throws: An error if the backup can't be restored.
    func restore(_ snapshot: String, token: String? = nil) throws {
      func value(_ option: String) throws -> String {
        arguments[try #require(arguments.firstIndex(of: option)) + 1]
      }
      try FileManager.default.removeItem(atPath: value("--data-dir"))
      var restoration = ["snapshot", "restore", snapshot]
      if let token { restoration += ["--initial-cluster-token", token] }
      for option in ["--name", "--data-dir", "--initial-cluster", "--initial-advertise-peer-urls"] {
        restoration += [option, try value(option)]
      }
      try Cluster.etcdctl(restoration)
    }

    /// Tells the node to end, and waits until it has.
    func end() {
      program.withLock { program in
        program?.terminate()
        program = nil
      }
    }

    func kill() {
      program.withLock { program in
        _ = try? program?.end()
        program = nil
      }
    }
  }

  /// A fault of a node.
  enum Fault: CaseIterable {
    case killed, frozen, cutOff

    func begin(_ node: Node) throws {
      switch self {
      case .killed: node.kill()
      case .frozen: node.suspend()
      case .cutOff: try node.isolate()
      }
    }

    func end(_ node: Node) throws {
      switch self {
      case .killed: try Cluster.start([node])
      case .frozen: node.suspend(false)
      case .cutOff: try node.isolate(false)
      }
    }
  }

  let directory: URL
  let nodes: [Node]
  private let network: PeerNetwork?
  private let administrator = Mutex<EtcdUser?>(nil)

  /// A cluster that tests share.
  static let shared = Result { try Cluster() }

  /// A cluster with users that tests share.
  static let sharedWithUsers = Task<Cluster, any Error> {
    let cluster = try Cluster()
    try await cluster.enableUsers()
    return cluster
  }

  /// Starts a cluster.
  ///
  /// - Parameters:
  ///   - count: The number of nodes.
  ///   - options: More options of the nodes, in which `@` stands for the directory.
  ///   - hasNetwork: Whether nodes can be cut off.
  ///   - environments: More environment variables of some nodes, by the index of the node.
  /// - Throws: An error if a node doesn't start.
  init(
    count: Int = 3, options: [String] = [], hasNetwork: Bool = false,
    environments: [Int: [String: String]] = [:]
  ) throws {
    // Scripts/test sets a directory in memory, because nothing has to outlive the tests.
    directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("swift-keyring-etcd-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try Certificates.make(in: directory)
    let ports = try Self.freePorts(2 * count)
    network = hasNetwork ? try PeerNetwork(count: count) : nil
    let peers = (0..<count).map { [network] index in
      let host = network == nil ? "127.0.0.1" : PeerNetwork.name(of: index)
      return "https://\(host):\(ports[count + index])"
    }
    nodes = (0..<count).map { [directory, network] index in
      let client = "https://127.0.0.1:\(ports[index])"
      func path(_ name: String) -> String { directory.appendingPathComponent(name).path }
      return Node(
        index, endpoint: client,
        [
          "--name", "node\(index)", "--data-dir", path("node\(index)"),
          "--listen-client-urls", client, "--advertise-client-urls", client,
          "--listen-peer-urls", "https://127.0.0.1:\(ports[count + index])",
          "--initial-advertise-peer-urls", peers[index], "--initial-cluster",
          peers.enumerated().map { "node\($0)=\($1)" }.joined(separator: ","),
          "--initial-cluster-state", "new",
          "--cert-file", path("node.pem"), "--key-file", path("node.key"),
          "--trusted-ca-file", path("authority.pem"), "--client-cert-auth",
          "--peer-cert-file", path("node.pem"), "--peer-key-file", path("node.key"),
          "--peer-trusted-ca-file", path("authority.pem"), "--peer-client-cert-auth",
          "--heartbeat-interval", "50", "--election-timeout", "500",
          // Otherwise, each token takes 70 ms of processor time.
          "--bcrypt-cost", "4",
          "--logger", "zap", "--log-outputs", "stdout",
        ] + options.map { $0.replacing("@", with: directory.path + "/") }, network,
        environment: environments[index] ?? [:])
    }
    try Self.start(nodes)
  }

  /// Starts nodes, and waits until all of them serve clients.
  static func start(_ nodes: [Node]) throws {
    for isReady in try nodes.map({ try $0.start() }) {
      try #require(isReady.wait(timeout: .now() + 60) == .success)
    }
  }

  deinit {
    for node in nodes { node.kill() }
    network?.end()
    try? FileManager.default.removeItem(at: directory)
  }

  func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

  var tls: EtcdTLS { tls("authority", "client") }

  /// Returns the settings of a program with a certificate, or without one.
  func tls(_ authorities: String, _ certificate: String?) -> EtcdTLS {
    let authorities = path("\(authorities).pem")
    guard let certificate else { return EtcdTLS(authorities: authorities) }
    return EtcdTLS(
      authorities: authorities, certificate: path("\(certificate).pem"),
      privateKey: path("\(certificate).key"))
  }

  /// Returns a storage for a namespace that doesn't have to exist.
  func storage(
    _ namespace: String = "test", endpoints: [String]? = nil, key: KeySource? = nil,
    tls: EtcdTLS? = nil, user: EtcdUser? = nil, timeout: Duration = .seconds(20)
  ) -> EtcdStorage {
    EtcdStorage(
      endpoints: endpoints ?? nodes.map(\.endpoint), namespace: namespace,
      key: key ?? .keyFile(at: path("key")), tls: tls ?? self.tls,
      user: user ?? administrator.withLock { $0 }, timeout: timeout)
  }

  /// Returns a storage for a new namespace.
  func newStorage() async throws -> EtcdStorage {
    let storage = storage("test-\(UUID().uuidString)")
    #expect(try await storage.createNamespace())
    return storage
  }

  /// Returns the storage of a service, whose user has a role for the service's items in a new namespace.
  ///
  /// - Parameter key: A key of the service.
  /// - Returns: The storage.
  /// - Throws: An error of the cluster, which must have users.
  func newStorage(forServiceOf key: ItemKey) async throws -> EtcdStorage {
    let operators = try await newStorage()
    let user = EtcdUser(name: UUID().uuidString, password: Secret("the service's password"))
    try await add(user)
    try await grant(user.name, operators.permissions(for: key), to: user)
    return storage(operators.fleet.settings.namespace, user: user)
  }

  /// Returns the name of a new namespace for `KeyringWorker`, and a storage for it.
  func newWorkerStorage() async throws -> (name: String, storage: EtcdStorage) {
    let storage = try await newStorage()
    let lines = [storage.fleet.settings.namespace] + nodes.map(\.endpoint)
    try Data(lines.joined(separator: "\n").utf8).write(
      to: directory.appendingPathComponent("storage"))
    return ("etcd:\(directory.path)", storage)
  }

  /// Returns another process's storage of the same namespace and user, perhaps with a transport of its own.
  func storage(
    like other: EtcdStorage, _ transport: (any EtcdTransport)? = nil,
    timeout: Duration = .seconds(20)
  ) -> EtcdStorage {
    let settings = other.fleet.settings
    return EtcdStorage(
      Fleet(
        FleetSettings(
          endpoints: settings.endpoints, namespace: settings.namespace, tls: settings.tls,
          user: settings.user, timeout: timeout),
        .keyFile(at: path("key")), transport: transport))
  }

  /// Returns another process's storage like one, with the transport that loses its requests.
  func faultyStorage(
    like other: EtcdStorage, timeout: Duration = .seconds(20)
  ) throws -> (EtcdStorage, FaultyTransport) {
    let transport = FaultyTransport(try transport())
    return (storage(like: other, transport, timeout: timeout), transport)
  }

  /// Observes the items of a storage from another process, whose watch is at a certain node.
  ///
  /// - Parameters:
  ///   - other: The storage.
  ///   - node: The node.
  ///   - events: The log of the events.
  /// - Returns: The subscription.
  /// - Throws: An error if the items can't be observed.
  func observe(
    like other: EtcdStorage, at node: Node, _ events: EventLog
  ) async throws -> StorageSubscription {
    let transport = FaultyTransport(try transport())
    // A program that can't reach a node asks the next one.
    transport.onlyNode.withLock { $0 = node.endpoint }
    let subscription = try await storage(like: other, transport)
      .observeWithoutBlocking(nil, events.append)
    try #require(await waitUntil { transport.openWatchCount > 0 })
    transport.onlyNode.withLock { $0 = nil }
    return subscription
  }

  /// Returns a transport to the nodes.
  func transport() throws -> any EtcdTransport { HTTPTransport(try tls.configuration()) }

  /// Sends a request to a node, and returns the reply.
  @discardableResult
  func call(
    _ path: String, _ request: some Encodable, to node: Node? = nil, token: String? = nil
  ) async throws -> [UInt8] {
    var token = token
    if token == nil, let user = administrator.withLock({ $0 }) { token = try await newToken(user) }
    return try await send(path, request, to: node ?? nodes[0], token: token)
  }

  private func send(
    _ path: String, _ request: some Encodable, to node: Node, token: String?
  ) async throws -> [UInt8] {
    let endpoint = try #require(EtcdEndpoint(node.endpoint))
    let body = GatewayJSON.encode(request)
    let end = ContinuousClock.now + .seconds(30)
    while true {
      do {
        return try await transport().send(
          path, body, to: endpoint, token: token, until: .now(plus: .seconds(10))
        ).body
      } catch let failure as EtcdFailure
        where !failure.hasDoubt && failure.refusal == nil && ContinuousClock.now < end
      {
        // On a slow machine, a handshake may take too long. Nothing was sent.
      }
    }
  }

  /// Makes a backup, as the documentation tells operators.
  func saveSnapshot(_ name: String) throws -> String {
    let user = administrator.withLock { $0 }.map {
      ["--user", "\($0.name):\($0.password.text ?? "")"]
    }
    try Self.etcdctl(
      [
        "--endpoints", nodes[0].endpoint, "--cacert", path("authority.pem"), "--cert",
        path("client.pem"), "--key", path("client.key"),
      ] + (user ?? []) + ["snapshot", "save", path(name)])
    return path(name)
  }

  private static func etcdctl(_ arguments: [String]) throws {
    let silence = FileHandle(forWritingAtPath: "/dev/null") ?? .standardError
    let program = try Program(
      "etcdctl", arguments, environment: ["ETCDCTL_API": "3"], complaints: silence)
    try #require(try program.finish().status == 0)
  }

  /// Returns the node that leads the others.
  func leader() async throws -> Node {
    for node in nodes {
      let leads = try await isLeader(node)
      if leads { return node }
    }
    throw CancellationError()
  }

  /// Returns whether a node leads the others, as far as it knows.
  func isLeader(_ node: Node) async throws -> Bool {
    do {
      let status = try await status(of: node)
      return status.leader == status.header.member
    } catch let failure as EtcdFailure where failure.refusal?.isTransient == true {
      // The node has no leader.
      return false
    }
  }

  /// Makes a node the leader.
  func makeLeader(_ node: Node) async throws {
    let leader = try await leader()
    if leader === node { return }
    let member = try await status(of: node).header.member
    try await call("/v3/maintenance/transfer-leadership", ["targetID": member], to: leader)
    while try await !isLeader(node) {}
  }

  private func status(of node: Node) async throws -> Status {
    func status(_ token: String?) async throws -> [UInt8] {
      try await send("/v3/maintenance/status", [String: String](), to: node, token: token)
    }
    let reply: [UInt8]
    do {
      reply = try await status(nil)
    } catch let failure as EtcdFailure where failure.refusal?.isDenial == true {
      // Since etcd 3.5.28, it needs an administrator's token. Another node may not run.
      reply = try await status(
        newToken(try #require(administrator.withLock { $0 }), from: node))
    }
    return try JSONDecoder().decode(Status.self, from: Data(reply))
  }

  private struct Status: Decodable {
    struct Header: Decodable {
      let member: String
      enum CodingKeys: String, CodingKey { case member = "member_id" }
    }
    let header: Header
    let leader: String?
  }

  // MARK: - Users

  func newToken(_ user: EtcdUser, from node: Node? = nil) async throws -> String {
    let request = ["name": user.name, "password": user.password.text ?? ""]
    let reply = try await send("/v3/auth/authenticate", request, to: node ?? nodes[0], token: nil)
    return try #require(UserReply(json: reply).token)
  }

  /// Adds an administrator, whom all requests of this class need from then on.
  func enableUsers() async throws {
    let user = EtcdUser(name: "root", password: Secret("root's password"))
    try await add(user)
    try await call("/v3/auth/role/add", ["name": "root"])
    try await call("/v3/auth/user/grant", ["user": "root", "role": "root"])
    try await call("/v3/auth/enable", [String: String]())
    administrator.withLock { $0 = user }
  }

  /// Adds a user who has no role.
  func add(_ user: EtcdUser) async throws {
    try await call(
      "/v3/auth/user/add", ["name": user.name, "password": user.password.text ?? ""])
  }

  /// Adds a role with permissions, and grants it to a user.
  func grant(_ role: String, _ permissions: [EtcdPermission], to user: EtcdUser) async throws {
    struct Request: Encodable {
      struct Permission: Encodable {
        let type: String
        let key: EtcdKey
        let end: EtcdKey

        enum CodingKeys: String, CodingKey {
          case key
          case end = "range_end"
          case type = "permType"
        }
      }
      let name: String
      let perm: Permission
    }
    try await call("/v3/auth/role/add", ["name": role])
    for permission in permissions {
      let range = EtcdRange(prefix: EtcdKey(permission.prefix))
      try await call(
        "/v3/auth/role/grant",
        Request(
          name: role,
          perm: .init(
            type: permission.isWritable ? "READWRITE" : "READ", key: range.start,
            end: range.end)))
    }
    try await call("/v3/auth/user/grant", ["user": user.name, "role": role])
  }

  func remove(_ user: EtcdUser) async throws {
    try await call("/v3/auth/user/delete", ["name": user.name])
  }

  func changePassword(of user: EtcdUser, to password: Secret) async throws {
    try await call(
      "/v3/auth/user/changepw", ["name": user.name, "password": password.text ?? ""])
  }

  func revoke(_ role: String, from user: EtcdUser) async throws {
    try await call("/v3/auth/user/revoke", ["name": user.name, "role": role])
  }

  // MARK: - Leases

  /// Ends all leases, as if their time were over.
  func revokeLeases() async throws {
    struct Leases: Decodable {
      struct Lease: Decodable {
        let id: String
        enum CodingKeys: String, CodingKey { case id = "ID" }
      }
      let leases: [Lease]?
    }
    let reply = try await call("/v3/lease/leases", [String: String]())
    let leases = try JSONDecoder().decode(Leases.self, from: Data(reply)).leases ?? []
    for lease in leases {
      do {
        try await call("/v3/lease/revoke", ["ID": lease.id])
      } catch let failure as EtcdFailure where failure.refusal?.code == 5 {
        // A lease of an earlier test has just come to its end.
      }
    }
  }

  /// Returns ports that nothing listens on.
  static func freePorts(_ count: Int) throws -> [UInt16] {
    let sockets = try (0..<count).map { _ in try boundSocket() }
    defer { for (socket, _) in sockets { close(socket) } }
    return sockets.map(\.port)
  }
}

/// Another program's clock, which differs from that of this process.
enum FakeClock {
  /// Returns the variables of a program with this clock.
  static func environment(_ clock: String) throws -> [String: String] {
    // The program "faketime" stays in front of another one, so it only tells where its library is. It fails if a killed
    // program has had its ID, and has left a semaphore of that name.
    for _ in 0..<10 {
      let program = try Program("faketime", ["-f", "+0", "printenv", "LD_PRELOAD"])
      guard let library = try? program.readLine(), !library.isEmpty else { continue }
      return ["LD_PRELOAD": library, "FAKETIME": clock, "FAKETIME_DONT_FAKE_MONOTONIC": "1"]
    }
    throw CocoaError(.fileNoSuchFile)
  }
}

/// The certificates of a cluster and its clients, and the keys of signed tokens.
private enum Certificates {
  static func make(in directory: URL) throws {
    func openssl(_ arguments: String..., clock: String? = nil) throws {
      let silence = FileHandle(forWritingAtPath: "/dev/null") ?? .standardError
      let path = directory.path + "/"
      let arguments = arguments.map { $0.replacing("@", with: path) }
      let environment = try clock.map(FakeClock.environment) ?? [:]
      let program = try Program(
        "openssl", arguments, environment: environment, complaints: silence)
      try #require(try program.finish().status == 0)
    }
    for name in ["authority", "stranger"] {
      try openssl(
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-keyout", "@\(name).key", "-out", "@\(name).pem", "-subj", "/CN=\(name)", "-days", "2")
    }
    // Nodes are clients of each other. A client with a common name is refused by the gateway.
    let kinds: [(String, String, String, String?)] = [
      ("node", "/CN=node", "serverAuth,clientAuth", nil),
      ("server", "/CN=node", "serverAuth", nil),
      ("client", "/O=client", "clientAuth", nil),
      ("named", "/CN=client", "clientAuth", nil),
      // OpenSSL 3.5 makes no certificate that ends before it begins.
      ("expired", "/CN=node", "serverAuth,clientAuth", "-3d"),
      ("future", "/CN=node", "serverAuth,clientAuth", "+3d"),
    ]
    for (name, subject, usage, clock) in kinds {
      let names = (0..<3).map { ",DNS:" + PeerNetwork.name(of: $0) }.joined()
      try Data("subjectAltName=IP:127.0.0.1\(names)\nextendedKeyUsage=\(usage)\n".utf8)
        .write(to: directory.appendingPathComponent("extensions"))
      try openssl(
        "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-keyout", "@\(name).key", "-out", "@\(name).csr", "-subj", subject)
      try openssl(
        "x509", "-req", "-in", "@\(name).csr", "-CA", "@authority.pem", "-CAkey", "@authority.key",
        "-CAcreateserial", "-out", "@\(name).pem", "-days", "2", "-extfile", "@extensions",
        clock: clock)
    }
    try openssl("genrsa", "-out", "@tokens.key", "2048")
    try openssl("rsa", "-in", "@tokens.key", "-pubout", "-out", "@tokens.pub")
  }
}
#endif
