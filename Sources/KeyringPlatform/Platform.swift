// SPDX-License-Identifier: Apache-2.0

/// The differences between systems, each of which has a file beside this one.
///
/// What only one system has, such as inotify, is where it's used. Windows, Android and WebAssembly have no file yet, so
/// the package doesn't compile there.
package enum Platform {}
