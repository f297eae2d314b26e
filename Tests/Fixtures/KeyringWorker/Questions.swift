// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile && os(Linux)
import Dispatch
import Glibc
import KeyringFile
import KeyringStorage

/// Asks for the passphrase of a new file in a task, which is cancelled when another program opens a named pipe.
func askForPassphrase(of file: String, untilOpened pipe: String) throws {
  let storage = EncryptedFileStorage(at: file, key: .typedPassphrase())
  let task = Task {
    try await storage.setPassword("s3cret", for: .password(service: "service", account: "account"))
  }
  DispatchQueue(label: "KeyringWorker").async {
    close(open(pipe, O_RDONLY))
    task.cancel()
  }
  do {
    try waitForTask { try await task.value }
    tell("stored")
  } catch {
    tell("error \((error as? SecureStorageError)?.code.description ?? "\(error)")")
  }
}
#endif
