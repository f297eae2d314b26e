// SPDX-License-Identifier: Apache-2.0

import CProcess
import Keyring
import KeyringToolCommands

/// The memory of this process, which has secrets.
enum ProcessMemory {
  /// The limit on core dumps with which this program was started.
  private static let inheritedLimit: rlimit = {
    var limit = rlimit()
    getrlimit(core, &limit)
    return limit
  }()

  #if canImport(Musl)
  private static let core = RLIMIT_CORE
  #else
  private static let core = __rlimit_resource_t(RLIMIT_CORE.rawValue)
  #endif

  /// The signals after which Swift would start another program, which any program of the user can get the memory from.
  private static let crashes = [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV]

  /// Keeps the memory out of core dumps, and from debuggers of the same user.
  ///
  /// A program that replaces this one isn't affected.
  static func hide() {
    for number in crashes where !ChildProcess.isIgnored(number) { signal(number, SIG_DFL) }
    _ = keyring_tool_hide_memory()
    var limit = inheritedLimit
    limit.rlim_cur = 0
    setrlimit(core, &limit)
    // Old kernels can't, and then the secrets are only as hidden as the rest.
    _ = Secret.hideNewSecrets()
  }

  /// Restores the limit on core dumps, which a program that is started from now on inherits.
  static func restoreLimit() {
    var limit = inheritedLimit
    setrlimit(core, &limit)
  }

  /// Overwrites the secrets in the environment, which are the password of etcd's user and the one after its name.
  static func forgetVariables() {
    if let password = getenv("ETCDCTL_PASSWORD") { memset(password, 0, strlen(password)) }
    unsetenv("ETCDCTL_PASSWORD")
    if let user = getenv("ETCDCTL_USER"), let password = strchr(user, Int32(UInt8(ascii: ":"))) {
      memset(password, 0, strlen(password))
    }
  }
}
