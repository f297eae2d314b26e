#if os(Linux)
import Glibc
import KeyringStorage

/// The operations of an app, on keys of its own and on keys that all workers share.
///
/// The program then prints a line for each operation: the key, the times of the start and the end,
/// "write" or "read", and the value under the key, if there is one. Every value is written once.
struct MixedOperations {
  /// The value that was written or read under a key, or `nil` if there is none.
  struct Effect {
    let isWrite: Bool
    let value: String?
  }

  let storage: any SecureStorage
  let service: String
  let worker: String

  func run(threads: Int, operations: Int) throws {
    try concurrently(threads) { thread in
      var lines: [String] = []
      for number in 0..<operations {
        let account =
          Bool.random()
          ? "shared \(Int.random(in: 0..<3))" : "\(worker).\(thread) \(Int.random(in: 0..<3))"
        let start = nanoseconds()
        let effect = try perform(account, value: "\(worker).\(thread).\(number)")
        guard let effect else { continue }
        lines.append(
          [
            account, "\(start)", "\(nanoseconds())", effect.isWrite ? "write" : "read",
            effect.value ?? "",
          ].joined(separator: "\t"))
      }
      print(lines.joined(separator: "\n"))
    }
  }

  /// Performs an operation, and returns `nil` if it shows nothing about the value under the key.
  private func perform(_ account: String, value: String) throws -> Effect? {
    switch Int.random(in: 0..<100) {
    case ..<40:
      try save(value, account, mode: .addOrReplace)
      return Effect(isWrite: true, value: value)
    case ..<55:
      do {
        try save(value, account, mode: Bool.random() ? .add : .update)
        return Effect(isWrite: true, value: value)
      } catch let error as SecureStorageError where error.code == .itemAlreadyExists {
        return nil
      } catch let error as SecureStorageError where error.code == .itemNotFound {
        return Effect(isWrite: false, value: nil)
      }
    case ..<85: return Effect(isWrite: false, value: try read(account))
    case ..<97: return Effect(isWrite: try storage.remove(key(account)), value: nil)
    default:
      let keys = try storage.items(matching: .service(service)).map(\.key)
      if Set(keys).count < keys.count { throw WorkerFailure("an item is listed twice") }
      return nil
    }
  }

  // MARK: One kind of item for each account

  private func key(_ account: String) -> ItemKey {
    switch account.utf8.last.map({ $0 % 3 }) {
    case 0: .password(service: service, account: account)
    case 1: .credentials(service: service, label: account)
    default: .value(service: service, account: account)
    }
  }

  private func save(_ value: String, _ account: String, mode: SaveMode) throws {
    let key = key(account)
    switch key.kind {
    case .credentials:
      try storage.setCredential(Credential(login: value, password: value), for: key, mode: mode)
    case .value:
      try storage.save(SecureItem(key: key, secret: Secret(value), label: value), mode: mode)
    default: try storage.setPassword(value, for: key, mode: mode)
    }
  }

  private func read(_ account: String) throws -> String? {
    let key = key(account)
    guard key.kind == .credentials else { return try storage.password(for: key) }
    guard let credential = try storage.credential(for: key) else { return nil }
    if credential.login == credential.password { return credential.login }
    throw WorkerFailure("\(credential.login) was read with the password \(credential.password)")
  }
}

/// Returns the time on a clock that all processes share.
private func nanoseconds() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
#endif
