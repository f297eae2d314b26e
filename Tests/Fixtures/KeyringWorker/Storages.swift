import FoundationEssentials
import Keyring
import KeyringFile
import KeyringStorage

#if SecretService && os(Linux)
/// The interaction of the storage, which never asks the user.
///
/// KeePassXC has a prompt for every new item, even if it doesn't ask the user.
private let interaction: SecretServiceStorage.Interaction =
  ProcessInfo.processInfo.environment["KEYRING_TEST_PROVIDER"] == "keepassxc" ? .allowed : .never
#endif

/// Returns the storage that an argument names.
func storage(named name: String) throws -> any SecureStorage {
  #if EncryptedFile
  if name.hasPrefix("/") { return EncryptedFileStorage(at: name, key: .keyFile(at: name + ".key")) }
  #endif
  #if SecretService && os(Linux)
  switch name {
  case "default": return SecretServiceStorage(interaction: interaction)
  case "session": return SecretServiceStorage(collection: .session, interaction: .never)
  default: break
  }
  #endif
  throw WorkerFailure("there is no such storage")
}
