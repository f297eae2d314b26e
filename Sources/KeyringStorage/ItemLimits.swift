/// The sizes above which a storage refuses an item, so that every storage can keep what one can.
public enum ItemLimits {
  /// The largest secret, in bytes: 4 MiB.
  ///
  /// D-Bus ends an array at 64 MiB, and the connection of whoever sends a longer one. So this is
  /// also what bounds how many secrets a keyring can be asked for at once.
  public static let secretBytes = 4 << 20

  /// The largest attribute, label or part of a key, in bytes of UTF-8: 32 KiB.
  ///
  /// KeePassXC no longer finds an item by a value of 64 KiB.
  public static let attributeBytes = 32 << 10
}
