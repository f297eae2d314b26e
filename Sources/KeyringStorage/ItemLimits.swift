/// The sizes above which a storage refuses an item, so that every storage can keep what one can.
public enum ItemLimits {
  /// The largest secret, in bytes: 32 MiB.
  ///
  /// Above some 40 MiB a message bus ends the connection.
  public static let secretBytes = 32 << 20

  /// The largest attribute, label or part of a key, in bytes of UTF-8: 32 KiB.
  ///
  /// KeePassXC no longer finds an item by a value of 64 KiB.
  public static let attributeBytes = 32 << 10
}
