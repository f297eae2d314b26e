// SPDX-License-Identifier: Apache-2.0

/// The differences between systems, each of which has a file beside this one.
///
/// What only one system has, such as inotify, is where it's used. On Windows, Android and WebAssembly, the package
/// doesn't compile yet.
package enum Platform {}
