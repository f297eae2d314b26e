// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Keyring
import KeyringEtcd
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
  #if os(Linux)
  if name.hasPrefix("turnless:") {
    return Turnless(base: try storage(named: String(name.dropFirst(9))))
  }
  #endif
  #if Etcd
  if name.hasPrefix("etcd:") { return try fleetStorage(in: String(name.dropFirst(5))) }
  #endif
  if name == "credentials" { return CredentialsDirectoryStorage(service: "service") }
  #if EncryptedFile
  if name.hasPrefix("tpm:") {
    let path = String(name.dropFirst(4))
    let key = KeySource.systemdCredential(at: path + ".credential", encryptedWith: .tpm)
    return EncryptedFileStorage(at: path, key: key)
  }
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

#if Etcd
/// Returns the storage of a cluster that a test has started.
///
/// - Parameter directory: The directory of the cluster: the name of the namespace and the addresses of the nodes
///   in the lines of the file `storage`, the certificates, and the key.
/// - Returns: The storage.
/// - Throws: An error if the file can't be read.
private func fleetStorage(in directory: String) throws -> any SecureStorage {
  let lines = try String(contentsOfFile: directory + "/storage", encoding: .utf8)
    .split(separator: "\n").map(String.init)
  return EtcdStorage(
    endpoints: Array(lines.dropFirst()), namespace: lines[0], key: .keyFile(at: directory + "/key"),
    tls: EtcdTLS(
      authorities: directory + "/authority.pem", certificate: directory + "/client.pem",
      privateKey: directory + "/client.key"))
}
#endif
