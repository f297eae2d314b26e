// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Keyring
import Dispatch
import Glibc
import KeyringStorage
import Synchronization

/// The operations of an app, on keys of its own and on keys that all workers share.
///
/// The program then prints a line for each operation: the key, the times of the start and the end, the kind of
/// effect, and the value under the key, if there is one. The value of a refusal is the one that wasn't added.
/// Every value is written once.
struct MixedOperations {
  /// The value that was written or read under a key, or `nil` if there is none.
  struct Effect {
    /// The kinds that the tests know as `LinearizabilityLog.Event.Kind`.
    enum Kind: String { case write, addition, change, removal, refusal, read }

    let kind: Kind
    let value: String?
  }

  enum Operation {
    case set, add, update, remove, read, list

    /// The effect of the operation if it finds what it needs, or `nil` for a listing.
    var effect: Effect.Kind? {
      switch self {
      case .set: .write
      case .add: .addition
      case .update: .change
      case .remove: .removal
      case .read: .read
      case .list: nil
      }
    }

    static func random(_ choice: Choice) -> Operation {
      switch Int.random(in: choice.numbers) {
      case ..<40: .set
      case ..<55: Bool.random() ? .add : .update
      case ..<67: .remove
      case ..<97: .read
      default: .list
      }
    }
  }

  /// The operations that a worker chooses from.
  enum Choice: String {
    case all, writes, reads

    fileprivate var numbers: Range<Int> {
      switch self {
      case .all: 0..<100
      case .writes: 0..<67
      case .reads: 67..<100
      }
    }
  }

  let storage: any SecureStorage
  let service: String
  let worker: String
  var choice = Choice.all

  func run(threads: Int, operations: Int) throws {
    try concurrently(threads) { thread in
      var lines: [String] = []
      for number in 0..<operations {
        let account =
          Bool.random()
          ? "shared \(Int.random(in: 0..<3))" : "\(worker).\(thread) \(Int.random(in: 0..<3))"
        let start = nanoseconds()
        let effect = try perform(
          .random(choice), account, value: "\(worker).\(thread).\(number)")
        guard let effect else { continue }
        lines.append(line(account, start, nanoseconds(), effect))
      }
      print(lines.joined(separator: "\n"))
    }
  }

  /// Performs operations one after another until the input ends, and prints each at once.
  ///
  /// A storage may fail for a while. A write that may have been done, or may be later, has no end.
  func runUntilInputEnds() throws {
    let isOver = Atomic(false)
    DispatchQueue(label: "KeyringWorker").async {
      while readLine() != nil {}
      isOver.store(true, ordering: .relaxed)
    }
    var number = 0
    while !isOver.load(ordering: .relaxed) {
      number += 1
      let account = "shared \(Int.random(in: 0..<16))"
      let value = "\(worker).\(number)"
      let start = nanoseconds()
      let operation = Operation.random(choice)
      do {
        if let effect = try perform(operation, account, value: value) {
          tell(line(account, start, nanoseconds(), effect))
        }
      } catch let error as SecureStorageError where error.mayPass {
        guard let kind = operation.effect, kind != .read else { continue }
        let effect = Effect(kind: kind, value: kind == .removal ? nil : value)
        tell(line(account, start, Int.max, effect))
      }
    }
  }

  private func line(_ account: String, _ start: Int, _ end: Int, _ effect: Effect) -> String {
    [account, "\(start)", "\(end)", effect.kind.rawValue, effect.value ?? ""]
      .joined(separator: "\t")
  }

  /// Performs an operation, and returns `nil` if it shows nothing about the value under the key.
  private func perform(
    _ operation: Operation, _ account: String, value: String
  ) throws -> Effect? {
    switch operation {
    case .set:
      try save(value, account, mode: .addOrReplace)
      return Effect(kind: .write, value: value)
    case .add, .update:
      do {
        try save(value, account, mode: operation == .add ? .add : .update)
        return Effect(kind: operation == .add ? .addition : .change, value: value)
      } catch let error as SecureStorageError where error.code == .itemAlreadyExists {
        return Effect(kind: .refusal, value: value)
      } catch let error as SecureStorageError where error.code == .itemNotFound {
        return Effect(kind: .read, value: nil)
      }
    case .remove:
      return Effect(kind: try storage.remove(key(account)) ? .removal : .read, value: nil)
    case .read: return Effect(kind: .read, value: try read(account))
    case .list:
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
      try storage[key, as: .credential].write(Credential(login: value, password: value), mode: mode)
    case .value:
      try storage.save(SecureItem(key: key, secret: Secret(value), label: value), mode: mode)
    default: try storage.setPassword(value, for: key, mode: mode)
    }
  }

  private func read(_ account: String) throws -> String? {
    let key = key(account)
    guard key.kind == .credentials else { return try storage.password(for: key) }
    guard let credential = try storage[key, as: .credential].read() else { return nil }
    if credential.login == credential.password { return credential.login }
    throw WorkerFailure("\(credential.login) was read with the password \(credential.password)")
  }
}

extension SecureStorageError {
  /// Whether the storage may work again soon.
  fileprivate var mayPass: Bool { [.connectionLost, .noProvider, .timedOut].contains(code) }
}

/// Returns the time on a clock that all processes share.
func nanoseconds() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
#endif
