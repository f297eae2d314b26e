// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// A value that is read from JSON in one go.
protocol JSONReadable {
  init(_ reader: inout JSONReader) throws(JSONReader.Malformed)
}
#endif
