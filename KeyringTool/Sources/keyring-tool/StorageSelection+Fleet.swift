// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyringToolCommands

#if Etcd
import Keyring
import KeyringEtcd

extension StorageSelection {
  /// The fleet's storage, for commands that only a fleet has.
  ///
  /// The cluster is described by the variables of etcdctl, which an operator has set already.
  func fleet() throws -> EtcdStorage {
    guard case .fleet(let namespace) = name, let keyFile else {
      throw ValidationError("This command is only for a fleet. Specify --storage etcd:….")
    }
    guard let endpoints = Self.variable("ENDPOINTS") else {
      throw ToolFailure(
        "The variable ETCDCTL_ENDPOINTS isn't set.",
        recoverySuggestion: "Set it to the addresses of the nodes, separated by commas.")
    }
    return EtcdStorage(
      endpoints: endpoints.split(separator: ",").map(String.init), namespace: namespace,
      key: .keyFile(at: keyFile), tls: try Self.tls(), user: try Self.user(),
      timeout: timeout ?? .seconds(10))
  }

  private static func tls() throws -> EtcdTLS? {
    guard let authorities = variable("CACERT") else {
      guard variable("CERT") == nil, variable("KEY") == nil else {
        throw ToolFailure(
          "The variable ETCDCTL_CACERT isn't set, but one for a client certificate is.",
          recoverySuggestion: "Set it to the authorities of the cluster's certificate.")
      }
      return nil
    }
    switch (variable("CERT"), variable("KEY")) {
    case (nil, nil): return EtcdTLS(authorities: authorities)
    case (let certificate?, let privateKey?):
      return EtcdTLS(
        authorities: authorities, certificate: certificate, privateKey: privateKey)
    default:
      throw ToolFailure(
        "Only one of the variables ETCDCTL_CERT and ETCDCTL_KEY is set.",
        recoverySuggestion: "Set both or none.")
    }
  }

  /// The user, whose password etcdctl finds after the name or in a variable of its own.
  private static func user() throws -> EtcdUser? {
    let password = variable("PASSWORD")
    guard let user = variable("USER") else {
      if password == nil { return nil }
      throw ToolFailure(
        "The variable ETCDCTL_PASSWORD is set, but ETCDCTL_USER isn't.",
        recoverySuggestion: "Set both or none.")
    }
    // As for etcdctl, a name can have a colon if the password is in its own variable.
    if let password { return EtcdUser(name: user, password: Secret(password)) }
    let parts = user.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else {
      throw ToolFailure(
        "The variable ETCDCTL_USER has no password.",
        recoverySuggestion: "Set ETCDCTL_PASSWORD.")
    }
    return EtcdUser(name: String(parts[0]), password: Secret(String(parts[1])))
  }

  private static func variable(_ name: String) -> String? {
    getenv("ETCDCTL_" + name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }
}

#else
extension StorageSelection {
  /// Throws an error, because the tool was built without the fleet's storage.
  func fleet() throws -> Never {
    throw ToolFailure(
      "This keyring-tool was built without the trait Etcd.",
      recoverySuggestion: "Build it with \"--traits Etcd\".")
  }
}
#endif
