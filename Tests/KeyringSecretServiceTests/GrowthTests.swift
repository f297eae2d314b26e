// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import FoundationEssentials
import Glibc
import Keyring
import KeyringStorage
import Testing

/// The memory of a program that reads the keyring again and again.
///
/// The tests run in processes of their own. `KEYRING_TEST_READS` sets the number of reads.
/// `.ci/check-memory-growth` does the same with libsecret's own function. The tests query malloc,
/// which a sanitizer replaces.
@Suite(.tags(.growth, .stress, .unsanitized)) struct GrowthTests {
  private static let reads =
    ProcessInfo.processInfo.environment["KEYRING_TEST_READS"].flatMap(Int.init)
    // With KeePassXC, memory grows once by some 35 kB, at some time. It doesn't grow again in
    // 40,000 reads.
    ?? (Provider.current == .keepassxc ? 6000 : 2000)

  @Test(.inPrivateSession) func `repeated reads take no additional memory`() async {
    let program = await #expect(
      processExitsWith: .success, observing: [\.standardOutputContent]
    ) {
      let service = try Self.newService()
      let growth = try await Self.growth(after: 500, of: Self.reads) { time in
        switch time % 10 {
        case 0: try service.credential("label").read()?.login == "ada"
        case 1: try service.password("missing").read() == nil
        default: try service.password("account").read() == "s3cret"
        }
      }
      #expect(growth < 16)
      try await service.removeAll()
    }
    print("read: ", String(decoding: program?.standardOutputContent ?? [], as: UTF8.self))
  }

  // Each read runs on a thread of Dispatch. The memory that these threads keep takes some hundred
  // calls to level off.
  @Test(.inPrivateSession) func `repeated asynchronous reads take no additional memory`() async {
    let program = await #expect(
      processExitsWith: .success, observing: [\.standardOutputContent]
    ) {
      let service = try Self.newService()
      let growth = try await Self.growth(after: 2000, of: Self.reads) { _ in
        try await service.password("account").read() == "s3cret"
      }
      #expect(growth < 64)
      try await service.removeAll()
    }
    print("await read: ", String(decoding: program?.standardOutputContent ?? [], as: UTF8.self))
  }

  private static func newService() throws -> ServiceScope {
    let service = SecretServiceStorage(collection: Provider.current.fastestCollection).service(
      PrivateSession.newService())
    try service.password("account").write("s3cret")
    try service.credential("label").write(Credential(login: "ada", password: "s3cret"))
    return service
  }

  /// Returns the bytes by which each read makes the process grow, once the process has settled.
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

  /// Returns the bytes that malloc has handed out and not received back; see malloc_info(3).
  private static func bytesInUse() throws -> Int {
    typealias Function = @convention(c) (CInt, UnsafeMutablePointer<FILE>) -> CInt
    let function = try #require(dlsym(nil, "malloc_info"))
    var text: UnsafeMutablePointer<CChar>?
    var size = 0
    let stream = try #require(open_memstream(&text, &size))
    _ = unsafeBitCast(function, to: Function.self)(0, stream)
    fclose(stream)
    defer { free(text) }
    // The sums follow all arenas. Each line has one, with the size as the last number.
    let sums = String(cString: try #require(text)).split(separator: "\n").suffix(8).map { line in
      line.split(separator: "\"").dropLast().last.flatMap { Int($0) } ?? 0
    }
    let (fast, rest, mapped, system) = (sums[0], sums[1], sums[2], sums[3])
    return system + mapped - fast - rest
  }
}
#endif
