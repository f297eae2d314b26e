#if SecretService && os(Linux)
import FoundationEssentials
import Glibc
import Keyring
import Testing

/// How much memory a program has that reads the keyring again and again: no more than at first.
///
/// In processes of their own. `KEYRING_TEST_READS` says how often; `.ci/check-memory-growth` has libsecret's own
/// function do the same.
@Suite struct GrowthTests {
  private static let reads =
    ProcessInfo.processInfo.environment["KEYRING_TEST_READS"].flatMap(Int.init)
    // There some 35 kB come once, at some time, and no more in 40,000 reads.
    ?? (Provider.current == .keepassxc ? 6000 : 2000)

  @Test(.inPrivateSession) func readingDoesNotGrow() async {
    let program = await #expect(
      processExitsWith: .success, observing: [\.standardOutputContent]
    ) {
      let service = try Self.newService()
      let growth = try await Self.growth(after: 500, of: Self.reads) { time in
        switch time % 10 {
        case 0: try service.credential(labeled: "label")?.login == "ada"
        case 1: try service.password(for: "missing") == nil
        default: try service.password(for: "account") == "s3cret"
        }
      }
      #expect(growth < 16)
      try await service.removeAll()
    }
    print("read: ", String(decoding: program?.standardOutputContent ?? [], as: UTF8.self))
  }

  // Each runs on a thread that Dispatch lends; what these keep takes some hundred calls to level off.
  @Test(.inPrivateSession) func readingAsynchronouslyDoesNotGrow() async {
    let program = await #expect(
      processExitsWith: .success, observing: [\.standardOutputContent]
    ) {
      let service = try Self.newService()
      let growth = try await Self.growth(after: 2000, of: Self.reads) { _ in
        try await service.password(for: "account") == "s3cret"
      }
      #expect(growth < 64)
      try await service.removeAll()
    }
    print("await read: ", String(decoding: program?.standardOutputContent ?? [], as: UTF8.self))
  }

  private static func newService() throws -> ServiceScope {
    let service = SecretServiceStorage(collection: Provider.current.fastestCollection).service(
      PrivateSession.newService())
    try service.setPassword("s3cret", for: "account")
    try service.setCredential(Credential(login: "ada", password: "s3cret"), labeled: "label")
    return service
  }

  /// By how many bytes each read has made the process grow, once it has settled.
  private static func growth(
    after first: Int, of reads: Int, read: (Int) async throws -> Bool
  ) async throws -> Double {
    for time in 0..<first { try #require(try await read(time)) }
    let before = try bytesInUse()
    for time in 0..<reads { try #require(try await read(time)) }
    let growth = Double(try bytesInUse() - before) / Double(reads)
    print("\(growth) bytes for each of \(reads) reads")
    return growth
  }

  /// What malloc has handed out and not got back; see malloc_info(3).
  private static func bytesInUse() throws -> Int {
    typealias Function = @convention(c) (CInt, UnsafeMutablePointer<FILE>) -> CInt
    let function = try #require(dlsym(nil, "malloc_info"))
    var text: UnsafeMutablePointer<CChar>?
    var size = 0
    let stream = try #require(open_memstream(&text, &size))
    _ = unsafeBitCast(function, to: Function.self)(0, stream)
    fclose(stream)
    defer { free(text) }
    // After all arenas come the sums, one in a line, with the size as the last number.
    let sums = String(cString: try #require(text)).split(separator: "\n").suffix(8).map { line in
      line.split(separator: "\"").dropLast().last.flatMap { Int($0) } ?? 0
    }
    let (fast, rest, mapped, system) = (sums[0], sums[1], sums[2], sums[3])
    return system + mapped - fast - rest
  }
}
#endif
