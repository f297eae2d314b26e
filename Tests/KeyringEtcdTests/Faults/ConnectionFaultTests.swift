// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Foundation
import Keyring
import KeyringRuntime
import KeyringStorage
import TestPrograms
import Testing

@testable import KeyringEtcd

/// A connection that can't be made is an error that tells why.
///
/// The storages are those of users. A new cluster has no users if no request can reach it.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ConnectionFaultTests {
  private let cluster: Cluster
  private let user = EtcdUser(name: "mail", password: Secret("mail's password"))
  private let key = ItemKey.password(service: "service", account: "account")

  init() async throws { cluster = try await Cluster.sharedWithUsers.value }

  private func read(_ storage: EtcdStorage) async throws {
    _ = try await storage.password(for: key)
  }

  @Test func `no program listens at the address`() async throws {
    let storage = cluster.storage(endpoints: ["https://127.0.0.1:1"], timeout: .seconds(1))
    let error = await expect(.noProvider, within: .seconds(1)) { try await read(storage) }
    #expect(error?.message == "No node of the cluster can be reached.")
    try await expectFinding("It can't be reached.", in: storage)
    // The observation that the cache begins has used up the time.
    let patient = cluster.storage(endpoints: ["https://127.0.0.1:1"], timeout: .seconds(5))
    let start = ContinuousClock.now
    await expect(.noProvider) { try await patient.cached().password(for: key) }
    #expect(ContinuousClock.now - start < .seconds(9))
  }

  @Test func `a request counts as sent only if there was a connection`() async throws {
    let cluster = try Cluster(count: 1)
    let node = cluster.nodes[0]
    let transport = try cluster.transport()
    func failure(within time: Duration) async throws -> EtcdFailure? {
      try await self.failure(at: node.endpoint, transport, within: time)
    }
    node.suspend()
    #expect(try await failure(within: .milliseconds(300))?.hasDoubt == false)
    node.suspend(false)
    #expect(try await failure(within: .seconds(20)) == nil)
    node.suspend()
    #expect(try await failure(within: .seconds(2))?.hasDoubt == true)
    node.suspend(false)
  }

  /// Returns the failure of a request, or `nil` for one that is answered.
  private func failure(
    at address: String, _ transport: any EtcdTransport, _ path: String = "/v3/kv/range",
    within time: Duration = .seconds(9)
  ) async throws -> EtcdFailure? {
    let endpoint = try #require(EtcdEndpoint(address))
    let body = GatewayJSON.encode(RangeRequest(EtcdKey("key")))
    do throws(EtcdFailure) {
      _ = try await transport.send(
        path, body, to: endpoint, token: nil, until: .now(plus: time))
      return nil
    } catch {
      return error
    }
  }

  @Test func `a proxy that holds back the lines of a watch isn't waited for`() async throws {
    let port = try portOfServer(
      answering: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    let endpoint = try #require(EtcdEndpoint("http://127.0.0.1:\(port)"))
    let failure = await #expect(throws: EtcdFailure.self) {
      try await HTTPTransport(nil).stream(
        "/v3/watch", Array("{}".utf8), to: endpoint, token: nil, until: .now(plus: .seconds(1))
      ) { _ in true }
    }
    #expect(failure?.cause.name == "timedOut")
  }

  /// A proxy may send the request back, with the password.
  @Test(arguments: [
    "400 Bad Request", "401 Unauthorized", "403 Forbidden", "502 Bad Gateway",
    "503 Service Unavailable",
  ])
  func `an error says nothing of an answer to a password`(status: String) async throws {
    for body in [
      "<html>authentication failed: ada s3cret</html>",
      #"{"code": 3, "message": "authentication failed: ada s3cret"}"#,
      #"{"code": 13, "error": "ada s3cret"}"#, "s3cret",
    ] {
      let reply = "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
      for (path, isQuoted) in [("/v3/auth/authenticate", false), ("/v3/kv/range", true)] {
        let failure = try #require(
          try await failure(of: reply, to: path, within: .seconds(20)))
        #expect("\(failure)".contains("s3cret") == isQuoted, "\(failure)")
        #expect("\(failure)".contains("authentication failed") == body.contains("failed"))
      }
    }
  }

  /// The first two answers aren't complete, and the others are a proxy's.
  @Test(
    arguments: [
      ("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", .seconds(1), "timedOut", nil),
      ("", .seconds(6), "timedOut", nil),
      ("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 5\r\n\r\n<p></", .seconds(20), "lost", true),
      (
        "HTTP/1.1 413 Payload Too Large\r\nContent-Length: 5\r\n\r\n<p></", .seconds(20),
        "refused", false
      ),
    ] as [(String, Duration, String, Bool?)])
  func `an answer that isn't a node's is understood`(
    reply: String, time: Duration, cause: String, hasDoubt: Bool?
  ) async throws {
    let failure = try await failure(of: reply, within: time)
    #expect(failure?.cause.name == cause)
    #expect(hasDoubt == nil || failure?.hasDoubt == hasDoubt)
    #expect(failure?.refusal?.isTooLarge == (cause == "refused" ? true : nil))
  }

  /// Returns the failure of a request that a server answers with some bytes, and then with no more.
  private func failure(
    of reply: String, to path: String = "/v3/kv/range", within time: Duration = .seconds(1)
  ) async throws -> EtcdFailure? {
    try await failure(
      at: "http://127.0.0.1:\(portOfServer(answering: reply))", HTTPTransport(nil), path,
      within: time)
  }

  /// Starts a server that answers a request with some bytes, and keeps the connection open.
  private func portOfServer(answering reply: String) throws -> UInt16 {
    let (listener, port) = try listeningSocket()
    let server = Thread {
      let client = accept(listener, nil, nil)
      close(listener)
      var byte: UInt8 = 0
      // An answer to no request would be an error.
      if recv(client, &byte, 1, 0) == 1 {
        _ = write(client, Array(reply.utf8), reply.utf8.count)
      }
      // The client closes the connection.
      while recv(client, &byte, 1, 0) == 1 {}
      close(client)
    }
    server.start()
    return port
  }

  @Test func `synchronous reads end in time on all threads of the cooperative pool`() async throws {
    let (listener, port) = try listeningSocket()
    defer { close(listener) }
    // The system accepts connections to it. No program answers the requests.
    let storage = EtcdStorage(
      endpoints: ["http://127.0.0.1:\(port)"], namespace: "test",
      key: .keyFile(at: cluster.path("key")), timeout: .milliseconds(500))
    let start = ContinuousClock.now
    await withTaskGroup { group in
      for _ in 0..<2 * ProcessInfo.processInfo.activeProcessorCount {
        group.addTask {
          expectError(.timedOut) { try storage.password(for: key) }
        }
      }
    }
    // After five seconds, the connections end by another limit.
    #expect(ContinuousClock.now - start < .seconds(4.5))
  }

  @Test func `a certificate that isn't trusted leaves no doubt`() async throws {
    let tls = cluster.tls("stranger", nil)
    let failure = try await failure(
      at: cluster.nodes[0].endpoint, HTTPTransport(tls.configuration()))
    #expect(failure?.cause.name == "untrusted")
    #expect(failure?.hasDoubt == false)
  }

  @Test func `encryption that is out of date is refused`() async throws {
    let (server, port) = try server(
      presenting: "node", "-tls1_1", "-cipher", "DEFAULT:@SECLEVEL=0")
    let address = "https://127.0.0.1:\(port)"
    #expect(try await failure(at: address, cluster.transport())?.cause.name == "malformed")
    let storage = cluster.storage(endpoints: [address])
    let error = await expect(.noProvider) { try await read(storage) }
    #expect(error?.message == "No encrypted connection to the cluster can be made.")
    #expect(error?.recoverySuggestion?.contains("TLS 1.2") == true)
    try server.end()
  }

  /// Starts a server that encrypts, with the certificate and the options.
  private func server(presenting name: String, _ options: String...) throws -> (Program, Int) {
    let port = try Cluster.freePorts(1)[0]
    let server = try Program(
      "openssl",
      [
        "s_server", "-accept", "127.0.0.1:\(port)", "-www", "-cert", cluster.path("\(name).pem"),
        "-key", cluster.path("\(name).key"),
      ] + options)
    // It prints this line when it accepts connections.
    var line = ""
    while line != "ACCEPT" {
      line = try server.readLine()
      try #require(!line.isEmpty)
    }
    return (server, Int(port))
  }

  @Test func `an address without encryption to a node that encrypts`() async throws {
    let address = cluster.nodes[0].endpoint.replacing("https://", with: "http://")
    let storage = cluster.storage(endpoints: [address], timeout: .seconds(1))
    let error = await expect(.connectionLost) { try await read(storage) }
    #expect(error?.recoverySuggestion?.contains("use https://") == true)
    let diagnosis = try await storage.diagnose(writing: false)
    #expect(diagnosis.findings.first?.recoverySuggestion?.contains("use https://") == true)
  }

  @Test func `an address with encryption of a node that doesn't encrypt`() async throws {
    let port = try portOfServer(answering: "HTTP/1.1 400 Bad Request\r\n\r\n")
    let storage = cluster.storage(endpoints: ["https://127.0.0.1:\(port)"])
    let error = await expect(.noProvider) { try await read(storage) }
    #expect(error?.message == "The nodes don't encrypt their connections.")
  }

  @Test func `the address of a node's port for the others`() async throws {
    let address = try #require(cluster.nodes[0].peerEndpoint)
    let storage = cluster.storage(endpoints: [address], timeout: .seconds(1))
    let error = await #expect(throws: SecureStorageError.self) { try await read(storage) }
    #expect(error?.recoverySuggestion?.contains("2379") == true, "\(String(describing: error))")
  }

  @Test func `the certificate of a node can't be used by a client`() async throws {
    let cluster = try Cluster(
      count: 1, options: ["--cert-file", "@server.pem", "--key-file", "@server.key"])
    let storage = cluster.storage(user: user, timeout: .seconds(1))
    let error = await expect(.connectionLost) { try await read(storage) }
    #expect(
      error?.recoverySuggestion?.contains("clientAuth") == true, "\(String(describing: error))")
    try await expectFinding("The gateway of the node can't reach the node itself.", in: storage)
  }

  @Test func `the key of this program isn't that of its certificate`() async throws {
    let tls = EtcdTLS(
      authorities: cluster.path("authority.pem"), certificate: cluster.path("client.pem"),
      privateKey: cluster.path("node.key"))
    let error = await expect(.invalidArgument) { try await read(cluster.storage(tls: tls)) }
    #expect(error?.argument == "tls")
    #expect(
      error?.message.contains("isn't the key of the certificate in \(tls.certificate ?? "")")
        == true)
  }

  @Test func `the certificate of this program was revoked`() async throws {
    let cluster = try Cluster(count: 1, options: ["--client-crl-file", "@revoked.pem"])
    // The node reads the list for each connection.
    let lines = """
      cd '\(cluster.directory.path)'
      printf '%s\\n' '[ca]' default_ca=a '[a]' database=revoked.txt default_md=sha256 default_crl_days=2 >ca.conf
      touch revoked.txt
      authority() { openssl ca -config ca.conf -cert authority.pem -keyfile authority.key "$@"; }
      authority -revoke client.pem && authority -gencrl -out revoked.pem
      """
    let silence = FileHandle(forWritingAtPath: "/dev/null") ?? .standardError
    try #require(try Program("bash", ["-c", lines], complaints: silence).finish().status == 0)
    let storage = cluster.storage(user: user, timeout: .seconds(1))
    let error = await #expect(throws: SecureStorageError.self) { try await read(storage) }
    let advice = error?.recoverySuggestion ?? ""
    #expect(advice.contains("revoked the certificate"), "\(String(describing: error))")
    #expect(try await "\(storage.diagnose(writing: false))".contains("revoked the certificate"))
  }

  @Test(arguments: [
    (["http://etcd.example.org:2379"], true, false), (["http://192.0.2.1:2379"], false, true),
    (["http://127.example.org:2379"], false, true),
    (["http://127.0.0.1:1", "http://192.0.2.1:2379"], false, true),
    (["https://127.0.0.1:1", "http://127.0.0.1:1"], false, false),
  ])
  func `no password goes over a connection without encryption`(
    endpoints: [String], hasTLS: Bool, hasUser: Bool
  ) async throws {
    let storage = EtcdStorage(
      endpoints: endpoints, namespace: "test", key: .keyFile(at: cluster.path("key")),
      tls: hasTLS ? cluster.tls : nil, user: hasUser ? user : nil)
    let error = await expect(.invalidArgument, within: .atOnce) { try await read(storage) }
    #expect(error?.argument == "endpoints")
    #expect(error?.recoverySuggestion?.contains("Use https:// in http://") == true)
  }

  @Test(arguments: ["127.0.0.1", "127.8.9.1", "[::1]", "localhost"])
  func `a node on this machine needs no encryption`(host: String) async throws {
    let storage = EtcdStorage(
      endpoints: ["http://\(host):1"], namespace: "test", key: .keyFile(at: cluster.path("key")),
      tls: cluster.tls, user: user, timeout: .milliseconds(200))
    await expect(.noProvider) { try await read(storage) }
  }

  @Test func `a refusal is understood by its text, not only by its code`() {
    let fleet = cluster.storage(user: user).fleet
    func error(_ code: Int, _ text: String) -> SecureStorageError {
      fleet.settings.error(for: .refused(GatewayError(code: code, message: text)))
    }
    #expect(error(9, "etcdserver: authentication is not enabled").code == .invalidArgument)
    #expect(error(9, "etcdserver: user name not found").code == .accessDenied)
    #expect(error(9, "etcdserver: something else").code == .other)
    let password = EtcdUser(name: "mail", password: Secret("pass\n"))
    let refused = cluster.storage(user: password).fleet.settings.error(
      for: .refused(GatewayError(code: 3, message: "etcdserver: authentication failed")))
    #expect(refused.recoverySuggestion?.contains("line feed") == true)
  }

  @Test func `one address of a node that is gone costs no more than a moment`() async throws {
    let other = try await cluster.newStorage()
    let storage = cluster.storage(
      other.fleet.settings.namespace,
      endpoints: ["https://127.0.0.1:1", cluster.nodes[0].endpoint], timeout: .seconds(5))
    for _ in 0..<10 {
      try await expecting(within: .atOnce) { try await storage.setPassword("s3cret", for: key) }
    }
  }

  /// The names of the authorities and of this program's certificate, and what a diagnosis finds.
  ///
  /// A connection that is reset may lose the reason of the node.
  @Test(
    arguments: [
      ("stranger", "client", ["an authority in @stranger.pem."]),
      ("authority", nil, ["It asks for a certificate of this program."]),
      (
        "authority", "expired",
        [
          "The certificate of this program in @expired.pem expired on 20",
          "It refuses the certificate of this program.",
        ]
      ),
    ] as [(String, String?, [String])])
  func `a certificate that isn't accepted is named`(
    authorities: String, certificate: String?, findings: [String]
  ) async throws {
    let storage = cluster.storage(tls: cluster.tls(authorities, certificate))
    let error = await expect(.accessDenied, within: .atOnce) { try await read(storage) }
    #expect(error?.message.contains("certificate") == true)
    for finding in findings {
      try await expectFinding(
        finding.replacing("@", with: cluster.directory.path + "/"), in: storage,
        attempts: finding.hasPrefix("It ") ? 5 : 1)
    }
  }

  @Test func `the authority of the cluster's certificate has expired`() async throws {
    // All certificates in the file have expired.
    let tls = cluster.tls("expired", nil)
    try await expectFinding(
      "The authority in \(tls.authorities) expired on 20", in: cluster.storage(tls: tls))
  }

  @Test func `the cluster's certificate is for another address`() async throws {
    // The certificate names no address.
    let (server, port) = try server(presenting: "stranger")
    let tls = cluster.tls("stranger", nil)
    let storage = cluster.storage(endpoints: ["https://127.0.0.1:\(port)"], tls: tls)
    try await expectFinding("Its certificate isn't for this address.", in: storage)
    try server.end()
  }

  @Test func `the cluster's certificate has expired`() async throws {
    let cluster = try Cluster(
      options: ["--cert-file", "@expired.pem", "--key-file", "@expired.key"])
    let storage = cluster.storage(user: user)
    let error = await expect(.accessDenied, within: .atOnce) { try await read(storage) }
    #expect(error?.message.contains("certificate") == true)
    try await expectFinding("Its certificate isn't valid now", in: storage)
  }

  @Test func `the certificate of this program isn't valid yet`() async throws {
    let text = try #require(CertificateFault.ofProgram(cluster.tls, at: .distantPast)).text
    #expect(text.contains("isn't valid until 20"))
    #expect(CertificateFault.ofProgram(cluster.tls) == nil)
    #expect(CertificateFault.ofProgram(cluster.tls("node", nil)) == nil)
  }

  @Test func `the next authority isn't at fault while another one is valid`() throws {
    let files = try ["authority", "future"].map {
      try Data(contentsOf: cluster.directory.appendingPathComponent("\($0).pem"))
    }
    try Data(files.joined()).write(
      to: cluster.directory.appendingPathComponent("authorities.pem"))
    let endpoint = try #require(EtcdEndpoint("https://127.0.0.1:1"))
    let fault = CertificateFault.ofNode(
      endpoint, "CERTIFICATE_VERIFY_FAILED", cluster.tls("authorities", nil))
    #expect(fault?.text.hasPrefix("Its certificate isn't valid now") == true)
  }

  @Test(arguments: [nil, "missing"])
  func `a file of certificates is missing`(certificate: String?) async throws {
    let tls = cluster.tls("missing", certificate)
    let error = await expect(.invalidArgument) { try await read(cluster.storage(tls: tls)) }
    #expect(error?.argument == "tls")
    #expect(error?.underlying?.code == Int(ENOENT))
  }

  @Test func `the gateway is off`() async throws {
    let cluster = try Cluster(options: ["--enable-grpc-gateway=false"])
    let storage = cluster.storage(user: user)
    let error = await expect(.noProvider, within: .atOnce) { try await read(storage) }
    #expect(error?.recoverySuggestion?.contains("enable-grpc-gateway") == true)
    try await expectFinding("etcd's JSON gateway", in: storage)
  }

  @Test func `a node that refuses a write has not made it`() async throws {
    let cluster = try Cluster(count: 1)
    let storage = cluster.storage(tls: cluster.tls("authority", "named"))
    try await storage.createNamespace()
    try await storage.setPassword("first", for: key)
    // From now on, the gateway refuses the name in the certificate.
    try await cluster.enableUsers()
    let error = await expect(.noProvider, within: .atOnce) {
      try await storage.setPassword("second", for: key)
    }
    #expect(error?.message == "The reply isn't from etcd's JSON gateway.")
    #expect(try await cluster.storage().password(for: key) == "first")
  }

  @Test func `a request is larger than a node allows`() async throws {
    let cluster = try Cluster(environments: [0: ["ETCD_MAX_REQUEST_BYTES": "10000"]])
    try await cluster.enableUsers()
    let other = try await cluster.newStorage(forServiceOf: key)
    let node = cluster.nodes[0].endpoint
    let settings = other.fleet.settings
    let storage = cluster.storage(settings.namespace, endpoints: [node], user: settings.user)
    let large = String(repeating: "x", count: 100_000)
    let error = await expect(.invalidArgument, within: .atOnce) {
      try await storage.setPassword(large, for: key)
    }
    #expect(error?.argument == "secret")
    #expect(try await storage.password(for: key) == nil)
    let findings = try await other.diagnose(writing: true).findings.filter {
      $0.text.contains("refuses items")
    }
    #expect(findings.map(\.subject) == ["node \(node)"])
    #expect(findings.first?.recoverySuggestion?.contains("--max-request-bytes") == true)
  }

  @Test func `the database is full`() async throws {
    let cluster = try Cluster(options: ["--quota-backend-bytes", "\(1 << 20)"])
    try await cluster.enableUsers()
    let storage = try await cluster.newStorage(forServiceOf: key)
    try await storage.setPassword("kept", for: key)
    let large = String(repeating: "x", count: 500_000)
    let second = ItemKey.password(service: "service", account: "second")
    let error = await expect(.other) {
      for _ in 0..<100 {
        try await expecting(within: .atOnce) { try await storage.setPassword(large, for: second) }
      }
    }
    #expect(error?.message == "The cluster's database is full.")
    #expect(try await storage.password(for: key) == "kept")
    try await expectFinding("The cluster's database is full.", in: storage)
    #expect(try await storage.diagnose(writing: false).failure?.code == .other)
  }
}
#endif
