// SPDX-License-Identifier: Apache-2.0

/// The differences between systems, each of which has a file beside this one.
///
/// What one system alone has, such as inotify, is where it's used. Windows, Android and WebAssembly are still
/// missing, so the package fails to compile there.
package enum Platform {}
