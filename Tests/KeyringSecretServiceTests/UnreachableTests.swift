#if SecretService && os(Linux)
import Foundation
import Glibc
import Keyring
import Testing

/// What a caller gets where there is no keyring, and that it gets it in time.
@Suite struct UnreachableTests {
  private func failure(at address: String, timeout: Duration = .seconds(25)) -> SecureStorageError?
  {
    let storage = SecretServiceStorage(
      options: .init(serviceTimeout: timeout, busAddress: address))
    return #expect(throws: SecureStorageError.self) {
      try storage.password(for: .password(service: "service", account: "account"))
    }
  }

  @Test(arguments: [
    "unix:path=/nonexistent/bus", "tcp:host=localhost,port=1", "garbage", "unix:nonsense=1", "",
  ])
  func deadAddressIsNoSessionBus(address: String) {
    let error = failure(at: address)
    #expect(error?.code == .noSessionBus)
    #expect(error?.operation == .read)
    #expect(error?.underlying != nil)
    #expect(error?.advice.contains("dbus-run-session") == true)
  }

  @Test func socketThatNeverAnswersEndsByTheDeadline() throws {
    let listener = try Listener()
    let start = ContinuousClock.now
    let error = failure(at: "unix:path=\(listener.path)", timeout: .milliseconds(300))
    #expect(error?.code == .timedOut)
    #expect(ContinuousClock.now - start < .seconds(10))
    // The time was spent waiting, not refused at once.
    #expect(ContinuousClock.now - start >= .milliseconds(300))
  }

  @Test func shortDeadlineOfOneCallerIsNotThatOfAnother() throws {
    let listener = try Listener()
    let path = listener.path
    let group = DispatchGroup()
    DispatchQueue(label: path).async(group: group) { [self] in
      #expect(failure(at: "unix:path=\(path)", timeout: .milliseconds(200))?.code == .timedOut)
    }
    let start = ContinuousClock.now
    #expect(failure(at: "unix:path=\(path)", timeout: .milliseconds(1000))?.code == .timedOut)
    #expect(ContinuousClock.now - start >= .milliseconds(1000))
    group.wait()
  }

  @Test func manyThreadsWaitTogetherForASocketThatNeverAnswers() throws {
    let listener = try Listener()
    let start = ContinuousClock.now
    let path = listener.path
    let group = DispatchGroup()
    for _ in 0..<16 {
      // A thread each: tasks would share as many threads as there are processors.
      DispatchQueue(label: path).async(group: group) { [self] in
        let error = failure(at: "unix:path=\(path)", timeout: .milliseconds(500))
        #expect(error?.code == .timedOut)
      }
    }
    group.wait()
    // One after the other they would take eight seconds.
    #expect(ContinuousClock.now - start < .seconds(4))
  }

  @Test func busWithoutAProviderIsNoProvider() throws {
    let bus = try EmptyBus()
    let error = failure(at: bus.address)
    try bus.stop()
    #expect(error?.code == .noProvider)
    #expect(error?.advice.contains("gnome-keyring") == true)
  }
}

/// A message bus on which nobody provides anything.
private final class EmptyBus {
  let address: String
  private let program: Program

  init() throws {
    let configuration = NSTemporaryDirectory() + UUID().uuidString
    defer { unlink(configuration) }
    try Data(
      """
      <busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><auth>EXTERNAL</auth>
      <policy context="default"><allow send_destination="*"/><allow eavesdrop="true"/></policy>
      </busconfig>
      """.utf8
    ).write(to: URL(fileURLWithPath: configuration))
    program = try Program(
      "dbus-daemon", ["--nofork", "--print-address", "--config-file", configuration],
      complaints: .nullDevice)
    address = try program.readLine()
  }

  func stop() throws { try program.end() }
}
#endif
