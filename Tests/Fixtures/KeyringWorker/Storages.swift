import Keyring
import KeyringFile

/// The storage that an argument names.
func storage(named name: String) throws -> any SecureStorage {
  #if EncryptedFile
  if name.hasPrefix("/") { return EncryptedFileStorage(at: name, key: .keyFile(at: name + ".key")) }
  #endif
  #if SecretService && os(Linux)
  switch name {
  case "default": return SecretServiceStorage(interaction: .never)
  case "session": return SecretServiceStorage(collection: .session, interaction: .never)
  default: break
  }
  #endif
  throw WorkerFailure("there is no such storage")
}
