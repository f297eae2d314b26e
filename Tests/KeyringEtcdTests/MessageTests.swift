// SPDX-License-Identifier: Apache-2.0

#if Etcd
import KeyringPlatform
@testable import KeyringEtcd
import Testing

/// The gateway ignores fields that it doesn't know, so that a misspelt condition would be none.
struct MessageTests {
  @Test func `a transaction has the fields that etcd documents`() {
    let key = EtcdKey("/a")
    let transaction = Transaction(
      compare: [.init(key, revision: 17), .init(key, creation: 3), .init(key, value: [1, 2])],
      success: [.put(key, [1, 2, 3], lease: 5), .put(key, [], lease: nil), .delete(key)],
      failure: [.range(RangeRequest(key))])
    #expect(
      text(transaction) == """
        {"compare":[{"key":"L2E=","mod_revision":"17","result":"EQUAL","target":"MOD"},\
        {"create_revision":"3","key":"L2E=","result":"EQUAL","target":"CREATE"},\
        {"key":"L2E=","result":"EQUAL","target":"VALUE","value":"AQI="}],\
        "failure":[{"request_range":{"key":"L2E="}}],\
        "success":[{"request_put":{"key":"L2E=","lease":"5","value":"AQID"}},\
        {"request_put":{"key":"L2E=","value":""}},{"request_delete_range":{"key":"L2E="}}]}
        """)
  }

  @Test func `ranges that meet are one part`() throws {
    func range(_ start: String, _ end: String) throws -> EtcdRange {
      try #require(EtcdRange(from: EtcdKey(start), to: EtcdKey(end)))
    }
    let others = try [range("k", "m"), range("a", "d"), range("b", "c"), range("d", "f")]
    #expect(try range("b", "l").parts(in: others) == [range("b", "f"), range("k", "l")])
    #expect(try range("f", "k").parts(in: others).isEmpty)
  }

  @Test func `a range has the fields that etcd documents`() {
    var range = RangeRequest(prefix: EtcdKey("/a/"))
    #expect(text(range) == #"{"key":"L2Ev","range_end":"L2Ew"}"#)
    (range.limit, range.revision, range.leastRevision) = (100, 7, 5)
    #expect(
      text(range) == """
        {"key":"L2Ev","limit":100,"min_mod_revision":5,"range_end":"L2Ew","revision":7}
        """)
    range = RangeRequest(prefix: EtcdKey("/a/"))
    (range.mostRecentCreation, range.order, range.limit) = (8, .newestFirst, 1)
    #expect(
      text(range) == """
        {"key":"L2Ev","limit":1,"max_create_revision":8,"range_end":"L2Ew","sort_order":"DESCEND",\
        "sort_target":"CREATE"}
        """)
  }

  @Test func `a watch and a count have the fields that etcd documents`() {
    #expect(
      text(WatchRequest(EtcdRange(prefix: EtcdKey("/a/")), from: 7)) == """
        {"create_request":{"fragment":true,"key":"L2Ev","range_end":"L2Ew","start_revision":"7"}}
        """)
    var count = RangeRequest(EtcdKey("/a"))
    count.countsOnly = true
    #expect(text(count) == #"{"count_only":true,"key":"L2E="}"#)
  }

  @Test func `a lease that has ended has no time, and an error is no answer`() throws {
    func seconds(_ result: String) throws -> Int64? {
      try KeepAliveReply(json: Array(result.utf8)).seconds
    }
    #expect(try seconds(#"{"result":{"header":{},"ID":"7","TTL":"10"}}"#) == 10)
    #expect(try seconds(#"{"result":{"header":{},"ID":"7"}}"#) == nil)
    #expect(throws: DecodingError.self) {
      try seconds(#"{"error":{"grpc_code":14,"message":"etcdserver: no leader"}}"#)
    }
  }

  @Test func `fields that the gateway leaves out are zero`() throws {
    let reply = try TransactionReply(
      json: Array(
        #"""
        {"header":{"cluster_id":"1","revision":"9"},"responses":[{"response_range":{"header":{}}},
        {"response_range":{"kvs":[{"key":"L2E=","mod_revision":"4"}],"count":"1"}},{"response_put":{}}]}
        """#.utf8))
    #expect(!reply.hasSucceeded)
    #expect(reply.revision == 9)
    #expect(reply.ranges.map(\.values.count) == [0, 1])
    #expect(reply.ranges[1].values[0].value.isEmpty)
    #expect(reply.ranges[1].values[0].revision == 4)
    #expect(reply.ranges[1].values[0].key == EtcdKey("/a"))
  }

  @Test(arguments: [
    #"[]"#, #"{"succeeded":1}"#, #"{"succeeded":true"#, #"{"succeeded":true}{}"#,
    #"{"responses":{}}"#, #"{"responses":[{"response_range":{"kvs":[{}]}}]}"#,
    #"{"responses":[{"response_range":{"kvs":[{"key":"L2E","mod_revision":"4"}]}}]}"#,
  ])
  func `a reply with other values, or that isn't complete, is refused`(json: String) {
    #expect(throws: DecodingError.self) { try TransactionReply(json: Array(json.utf8)) }
  }

  @Test(arguments: [
    ("https://etcd.example.org:2379", true), ("http://127.0.0.1:2379/", true),
    ("https://[::1]:2379", true), ("https://etcd.example.org", false),
    ("https://etcd.example.org:99999", false), ("etcd.example.org:2379", false),
    ("https://user@etcd:2379", false), ("https://:2379", false), ("https://a:2379/path", false),
  ])
  func `an address has a scheme, a host and a port`(address: String, isValid: Bool) {
    #expect((EtcdEndpoint(address) != nil) == isValid)
  }

  @Test(arguments: [
    ("example", true), ("example/production", true), ("a.b-c_d", true), ("", false), ("/a", false),
    ("a//b", false), ("a b", false), ("ü", false), ("a/v1/keys", false),
  ])
  func `a namespace has a name without special characters`(name: String, isValid: Bool) {
    #expect((Namespace(name) != nil) == isValid)
  }

  @Test func `the clocks of a node and of this machine differ by the least possible time`() throws {
    let reply = EtcdReply(body: [], date: "Tue, 24 Nov 2026 19:41:06 GMT")
    let time = try Date("2026-11-24T19:41:06Z", strategy: .iso8601)
    #expect(reply.clockLead(from: time, to: time + 2) == 0)
    // The date has no fraction of its second.
    #expect(reply.clockLead(from: time + 0.9, to: time + 0.9) == 0)
    #expect(reply.clockLead(from: time - 12, to: time - 10) == 10)
    #expect(reply.clockLead(from: time + 11, to: time + 13) == -10)
    for date in [nil, "yesterday", "Tue, 24 Non 2026 19:41:06 GMT"] {
      #expect(EtcdReply(body: [], date: date).clockLead(from: time, to: time) == 0)
    }
  }

  @Test(arguments: [
    ("Thu, 01 Jan 2026 00:00:09 GMT", "2026-01-01T00:00:09Z"),
    ("Wed, 30 Sep 2026 23:59:59 GMT", "2026-09-30T23:59:59Z"),
    ("Thu, 01 Oct 2026 08:00:00 GMT", "2026-10-01T08:00:00Z"),
  ])
  func `the date of an answer is the time of its node`(date: String, text: String) throws {
    let time = try Date(text, strategy: .iso8601)
    #expect(EtcdReply(body: [], date: date).clockLead(from: time - 1, to: time - 1) == 1)
  }

  @Test(arguments: [#"{"ID":"7","TTL":"180"}"#, #"{"ID":7,"TTL":180}"#])
  func `a number is read as text or as a number`(json: String) throws {
    let reply = try LeaseReply(json: Array(json.utf8))
    #expect(reply.id.value == 7 && reply.seconds.value == 180)
  }

  @Test func `the time of a lease that has ended is negative`() throws {
    let state = try LeaseState(json: Array(#"{"ID":"7","TTL":"-1"}"#.utf8))
    #expect(state.grantedTTL == nil)
  }

  @Test(arguments: [
    #"{"code":7,"message":"m"}"#, #"{"error":"m","code":"7"}"#,
    #"{"error":{"of":"a proxy"},"message":"m","code":7}"#,
  ])
  func `an error has its message`(json: String) throws {
    let error = try GatewayError(json: Array(json.utf8))
    #expect(error.code == 7)
    #expect(error.message == "m")
  }

  @Test(arguments: ["9223372036854775807", "-1", "-9223372036854775808", "99999999999999999999"])
  func `a revision without a next one is refused`(number: String) {
    for json in ["\"\(number)\"", number] {
      #expect(throws: DecodingError.self) {
        try TransactionReply(json: Array(#"{"header":{"revision":\#(json)}}"#.utf8))
      }
    }
  }

  private func text(_ message: some Encodable) -> String {
    String(decoding: GatewayJSON.encode(message), as: UTF8.self)
  }

  @Test(arguments: [
    ("3.4.23", true, true), ("3.5.16", true, true), ("3.5.30", false, true),
    ("3.4.44", false, true),
    ("3.5.33", false, false), ("3.6.13", false, true), ("3.6.14", false, false),
    ("3.7.0", false, true), ("3.7.1", false, false), ("3.8.0", false, false),
  ])
  func `versions in which roles don't keep users apart`(
    version: String, hasOldFault: Bool, hasFault: Bool
  ) throws {
    let reply = try StatusReply(json: Array(#"{"etcdserver":"\#(version)"}"#.utf8))
    let fault = reply.fault(hasUsers: true)
    #expect((fault != nil) == hasFault)
    #expect((fault?.contains("change and remove") == true) == hasOldFault)
    #expect((reply.fault(hasUsers: false) != nil) == hasOldFault)
  }
}
#endif
