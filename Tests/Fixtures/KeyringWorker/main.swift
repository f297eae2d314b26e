// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Foundation
import Keyring
import KeyringStorage

// A program that uses a storage, for tests that kill it or start several of it at once:
//
//   KeyringWorker rewrite STORAGE SERVICE
//   KeyringWorker replace STORAGE SERVICE
//   KeyringWorker read-cached STORAGE SERVICE
//   KeyringWorker follow DIRECTORY SERVICE
//   KeyringWorker set STORAGE SERVICE PASSWORD
//   KeyringWorker get STORAGE SERVICE
//   KeyringWorker begin STORAGE SERVICE NAME
//   KeyringWorker move STORAGE SERVICE
//   KeyringWorker mix STORAGE SERVICE NAME THREADS OPERATIONS
//   KeyringWorker mix-on STORAGE SERVICE NAME writes|reads
//   KeyringWorker refresh STORAGE SERVICE SOCKET NAME blocking|async
//   KeyringWorker count-up STORAGE SERVICE WITNESS THREADS COUNT
//   KeyringWorker keep-turn STORAGE SERVICE SECONDS
//   KeyringWorker queue STORAGE SERVICE COUNT
//   KeyringWorker start THREADS
//   KeyringWorker save SERVICE ACCOUNT PASSWORD
//   KeyringWorker read SERVICE ACCOUNT allowed|never
//   KeyringWorker at-terminal read|reads|both|save|unlock COLLECTION SECONDS
//   KeyringWorker change SERVICE COUNT
//   KeyringWorker serve SERVICE
//   KeyringWorker remember
//   KeyringWorker wait-in tool|loop
//   KeyringWorker starve USE nothing|read|all descriptors|threads COUNT
//   KeyringWorker ask [handled]
//   KeyringWorker ask-until FILE PIPE
//
// STORAGE is a collection of the Secret Service, "credentials" for those of a service, the path of an encrypted file,
// "tpm:" and the path of a file whose key is in a TPM, or "etcd:" and the directory of a cluster. With "turnless:" before
// it, several programs take no turns. The program ends with the status 0 if all goes well.
func work(_ arguments: [String]) throws {
  switch (arguments.first, arguments.count) {
  case ("rewrite", 3):
    try rewriteForever(in: storage(named: arguments[1]), service: arguments[2])
  case ("replace", 3):
    try replaceForever(in: storage(named: arguments[1]), service: arguments[2])
  case ("read-cached", 3):
    guard let storage = try storage(named: arguments[1]) as? any ObservableStorage else { break }
    try readForever(from: storage, service: arguments[2])
  case ("follow", 3):
    try follow(arguments[1], service: arguments[2])
  case ("set", 4):
    let key = ItemKey.password(service: arguments[2], account: "account")
    try storage(named: arguments[1]).setPassword(arguments[3], for: key)
  case ("get", 3):
    let storage = try storage(named: arguments[1])
    do throws(SecureStorageError) {
      let key = ItemKey.password(service: arguments[2], account: "account")
      tell(try storage.password(for: key) ?? "nothing")
    } catch {
      tell("error \(error.code) \(error.message)")
    }
  case ("remember", 1):
    tell(SelectionMemory.program("worker").path ?? "nowhere")
  case ("wait-in", 2): useWaitingProperty(in: arguments[1])
  case ("begin", 4):
    try FirstStart(storage: storage(named: arguments[1]), service: arguments[2], name: arguments[3])
      .run()
  case ("move", 3):
    try moveItemAtStart(in: storage(named: arguments[1]), service: arguments[2])
  case ("mix", 6):
    try MixedOperations(
      storage: storage(named: arguments[1]), service: arguments[2], worker: arguments[3]
    ).run(threads: Int(arguments[4]) ?? 0, operations: Int(arguments[5]) ?? 0)
  case ("mix-on", 5):
    try MixedOperations(
      storage: storage(named: arguments[1]), service: arguments[2], worker: arguments[3],
      choice: MixedOperations.Choice(rawValue: arguments[4]) ?? .all
    ).runUntilInputEnds()
  case ("refresh", 6):
    try Refreshing(
      storage: storage(named: arguments[1]), service: arguments[2], server: arguments[3],
      name: arguments[4], isAsynchronous: arguments[5] == "async"
    ).run()
  case ("count-up", 6):
    try countUp(
      in: storage(named: arguments[1]), service: arguments[2], witness: arguments[3],
      threads: Int(arguments[4]) ?? 0, count: Int(arguments[5]) ?? 0)
  case ("keep-turn", 4):
    try keepTurn(
      in: storage(named: arguments[1]), service: arguments[2], seconds: Double(arguments[3]) ?? 0)
  case ("queue", 4):
    try queue(Int(arguments[3]) ?? 0, in: storage(named: arguments[1]), service: arguments[2])
  case ("ask", 1), ("ask", 2):
    if arguments.count == 2 {
      signal(SIGQUIT) { _ in }
      signal(SIGUSR1) { _ in }
      signal(SIGUSR2) { _ in UnsafeMutablePointer<Int>(bitPattern: 8)?.pointee = 1 }
    }
    // An app asks on any thread, and the kernel prefers the main thread for signals.
    try concurrently(1) { _ in
      do throws(SecureStorageError) {
        tell("\(try Secret.typed(atPrompt: "Secret: ").count) bytes")
      } catch {
        tell("error \(error.message)")
      }
    }
  #if EncryptedFile
  case ("ask-until", 3):
    try askForPassphrase(of: arguments[1], untilOpened: arguments[2])
  #endif
  #if SecretService
  case ("start", 2):
    // Nothing was sent before, so every thread finds that there is no session yet.
    try concurrently(Int(arguments[1]) ?? 0) { _ in
      _ = try SecretServiceStorage().password(for: .password(service: "none", account: "none"))
    }
  case ("save", 4):
    let key = ItemKey.password(service: arguments[1], account: arguments[2])
    try SecretServiceStorage().setPassword(arguments[3], for: key)
  case ("read", 4):
    let storage = SecretServiceStorage(interaction: arguments[3] == "never" ? .never : .allowed)
    do throws(SecureStorageError) {
      let key = ItemKey.password(service: arguments[1], account: arguments[2])
      tell(try storage.password(for: key) ?? "nothing")
    } catch {
      tell("error \(error.code)")
    }
  case ("at-terminal", 4):
    useKeyring(arguments[1], in: arguments[2], promptTimeout: .seconds(Int(arguments[3]) ?? 0))
  case ("change", 3):
    let password = Password<String?>(
      "account", service: arguments[1], storage: SecretServiceStorage())
    for number in 1...(Int(arguments[2]) ?? 1) { try password.write("\(number)") }
  case ("starve", 5):
    guard let use = StarvedUse(rawValue: arguments[1]),
      let scarcity = Scarcity(rawValue: arguments[3]), let count = Int(arguments[4])
    else { throw WorkerFailure("there is no such use") }
    let uses: [String: [StarvedUse]] = ["read": [.read], "all": [.read, .awaitedRead, .observe]]
    try use.run(after: uses[arguments[2]] ?? [], scarcity, count)
  case ("serve", 2):
    // Each line names an account and its new password. Without a password, the old one is removed.
    let service = SecretServiceStorage().service(arguments[1])
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      try service.password(words[0]).write(words.count > 1 ? words[1] : nil)
      tell("ok")
    }
  #endif
  default: throw WorkerFailure("there is no such task")
  }
}

// An error that isn't caught would be a crash. The keyring may end at any moment, which is none.
do {
  try work(Array(CommandLine.arguments.dropFirst()))
} catch {
  FileHandle.standardError.write(Data("KeyringWorker: \(error)\n".utf8))
  exit(EXIT_FAILURE)
}
#endif
