// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Keyring
import KeyringStorage
import Testing

/// Tests of items, their keys, and queries.
@Suite struct ItemTests {
  @Test func `keys of every kind have their parts, and differ`() {
    let keys: Set<ItemKey> = [
      .password(service: "service", account: "account"),
      .value(service: "service", account: "account"),
      .credentials(service: "service", label: "label"),
      .internetPassword(server: InternetServer("git.example.org"), account: "ada"),
      ItemKey(kind: ItemKind(rawValue: "note"), attributes: ["title": "a note"]),
    ]
    #expect(keys.count == 5)
    let kinds: [ItemKind] = [.password, .value, .credentials, .internetPassword]
    #expect(kinds.map(\.rawValue) == kinds.map(\.description))
    for key in keys { #expect(kinds.contains(key.kind) == (key.attributes["title"] == nil)) }
    let note = ItemKey(kind: ItemKind(rawValue: "note"), attributes: ["title": "a note"])
    #expect(note.description == "note (title: a note)")
    #expect(keys.contains(note))
    var hasher = Hasher()
    note.hash(into: &hasher)
    let password = ItemKey.password(service: "service", account: "account")
    #expect(password.service == "service" && password.account == "account")
    #expect(ItemKey.credentials(service: "service", label: "label").label == "label")
    let server = InternetServer(
      "git.example.org", port: 8443, path: "/git", securityDomain: "realm", protocol: .https,
      authenticationType: .httpBasic)
    let internet = ItemKey.internetPassword(server: server, account: "ada")
    #expect(internet.server == server && internet.account == "ada" && password.server == nil)
    #expect(note.service == nil && note.account == nil && note.label == nil)
    #expect(ItemKind.password != ItemKind.value && note != .credentials(service: "a", label: "b"))
  }

  @Test func `every part of an item can be set`() {
    var item = SecureItem(
      key: .password(service: "service", account: "account"), secret: nil, label: nil,
      attributes: nil, created: nil, modified: nil, isLocked: nil)
    item.key = .value(service: "service", account: "account")
    item.secret = Secret("s3cret")
    item.label = "label"
    item.attributes = ["environment": "test"]
    item.created = Date(timeIntervalSince1970: 0)
    item.modified = Date(timeIntervalSince1970: 1)
    item.isLocked = false
    item.comment = "comment"
    item.expires = Date(timeIntervalSince1970: 2)
    #expect(item.comment == "comment" && item.attributes?.count == 3)
    #expect(item.expires == Date(timeIntervalSince1970: 2))
    #expect(item.selecting(.all).secret == Secret("s3cret"))
    #expect(item.selecting(.metadata).secret == nil)
    #expect(item.key.defaultLabel == "service: account")
  }

  @Test func `every part of a query can be set`() {
    let key = ItemKey.password(service: "service", account: "account")
    let time = Date(timeIntervalSince1970: 0)...Date(timeIntervalSince1970: 1)
    var query = ItemQuery(
      key: nil, kind: nil, attributes: [:], label: nil, created: nil, modified: nil,
      ignoresCase: false, details: [], limit: nil, allowsUnlocking: true)
    #expect(query.isUnconstrained)
    #expect(query.matches(SecureItem(key: key)))
    query.key = key
    query.kind = .password
    query.attributes = ["environment": "test"]
    query.label = "label"
    query.created = time
    query.modified = time
    query.ignoresCase = true
    query.details = ItemQuery.Details(rawValue: ItemQuery.Details.all.rawValue)
    query.limit = 1
    query.onProgress = { completed, total in print("\(completed) of \(total)") }
    query.allowsUnlocking = false
    #expect(query.details == [.secret, .metadata])
    #expect(!query.matches(SecureItem(key: key)))
    #expect(
      query.matches(
        SecureItem(
          key: key, label: "LABEL", attributes: ["environment": "TEST"], created: time.lowerBound,
          modified: time.upperBound)))
    #expect(ItemQuery.key(key, details: .secret).key == key)
    #expect(ItemQuery.service("service", kind: .value).attributes == ["service": "service"])
    #expect(ItemLimits.secretBytes > ItemLimits.attributeBytes)
    #expect([SaveMode.add, .update, .addOrReplace].count == 3)
  }

  @Test func `every part of an internet server can be set`() {
    var server = InternetServer(
      "git.example.org", port: nil, path: nil, securityDomain: nil, protocol: nil,
      authenticationType: nil)
    server.host = "example.org"
    server.port = 8443
    server.path = "/git"
    server.securityDomain = "realm"
    server.protocol = .https
    server.authenticationType = .httpBasic
    #expect(server.protocol?.rawValue == "https")
    #expect(server.authenticationType?.rawValue == "http-basic")
    #expect(
      InternetServer.Scheme(rawValue: "gopher") == InternetServer.Scheme(stringLiteral: "gopher"))
    #expect(
      InternetServer.AuthenticationType(rawValue: "oauth")
        == InternetServer.AuthenticationType(stringLiteral: "oauth"))
    let protocols: Set<InternetServer.Scheme> = [
      .afp, .ftp, .ftps, .http, .https, .imap, .imaps, .ipp, .irc, .ircs, .ldap, .ldaps, .nntp,
      .nntps, .pop3, .pop3s, .rtsp, .smb, .smbs, .smtp, .smtps, .socks, .ssh, .telnet, .telnets,
    ]
    #expect(protocols.count == 25)
    let types: Set<InternetServer.AuthenticationType> = [
      .default, .dpa, .htmlForm, .httpBasic, .httpDigest, .msn, .ntlm, .rpa,
    ]
    #expect(types.count == 8)
  }

  @Test func `secrets and credentials can be compared and described`() {
    // It would change the memory of all tests.
    let hide: () -> Bool = Secret.hideNewSecrets
    _ = hide
    let secret = Secret("s3cret")
    #expect(secret == Secret(bytes: Array("s3cret".utf8)))
    #expect(secret == secret.withUnsafeBytes { Secret(copying: $0) })
    #expect(secret.count == 6 && secret.text == "s3cret")
    #expect(secret.description == secret.debugDescription)
    #expect(secret.customMirror.children.isEmpty)
    #expect(Credential(login: "ada", secret: secret)?.secret == secret)
    var credential = Credential(login: "ada", password: "pa55")
    credential.login = "grace"
    credential.password = "s3cret"
    #expect(credential == Credential(login: "grace", password: "s3cret"))
    #expect(credential.description == credential.debugDescription)
    #expect(credential.customMirror.children.count == 1)
  }

  @Test func `every part of an error can be set`() {
    typealias Code = SecureStorageError.Code
    typealias Operation = SecureStorageError.Operation
    let codes: Set<Code> = [
      .itemNotFound, .itemAlreadyExists, .locked, .userCanceled, .noSessionBus, .noProvider,
      .providerFailed, .selectedStorageMissing, .noDefaultCollection, .collectionNotFound,
      .collectionAlreadyExists, .accessDenied,
      .timedOut, .canceled, .connectionLost, .ambiguous, .invalidArgument, .undecodable,
      .noStorage, .notEncrypted, .notObservable, .other,
    ]
    #expect(codes.count == 22)
    let operations: Set<Operation> = [
      .read, .save, .remove, .lock, .unlock, .createCollection, .deleteCollection, .observe,
    ]
    #expect(Set(operations.map(\.rawValue)) == Set(operations.map(\.description)))

    var cause = SecureStorageError.Underlying(domain: "domain", code: 1, text: "text")
    cause.domain = "disk"
    cause.code = 28
    cause.text = "full"
    #expect(cause.description == "disk 28: full")
    var error = SecureStorageError(
      .other, operation: .save, backendName: "Test", message: nil, recoverySuggestion: nil,
      argument: nil,
      underlying: nil)
    error.code = Code(rawValue: "full")
    error.operation = Operation(rawValue: "compact")
    error.backendName = "FileStorage"
    error.message = "It is full."
    error.recoverySuggestion = "Empty it."
    error.argument = "item"
    error.underlying = cause
    #expect(error.code.rawValue == error.code.description)
    #expect(Code(rawValue: "full") ~= error)
    let own = InMemoryStorage().error(
      .invalidArgument, during: .save, message: "It is bad.", recoverySuggestion: "Mend it.",
      argument: "item", underlying: cause)
    #expect(own.backendName == "InMemoryStorage" && own.argument == "item")
    #expect(
      error.description
        == "FileStorage: compact failed (full). It is full. Empty it. [disk 28: full]")
    #expect(error.errorDescription == "It is full.")
    #expect(error.recoverySuggestion == "Empty it.")
    #expect(error.failureReason == "full")
  }
}
