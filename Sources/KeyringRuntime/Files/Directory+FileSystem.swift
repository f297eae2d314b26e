// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import KeyringPlatform

extension Directory {
  /// Whether the system reports every change of the files in the directory.
  ///
  /// Changes of other machines in a network file system, or behind a file system of a program (FUSE), go
  /// unreported. An unknown file system is treated as one of these. For a missing directory, the nearest
  /// ancestor that exists counts.
  package var reportsChanges: Bool {
    Self.localFileSystems.contains(swift_keyring_file_system(nearestExisting.path))
  }

  /// The numbers of the file systems whose files only this machine's kernel changes, from statfs(2).
  private static let localFileSystems: Set<UInt32> = [
    0xEF53,  // ext2, ext3, ext4
    0x9123_683E,  // btrfs
    0x5846_5342,  // XFS
    0x2FC1_2FC1,  // ZFS
    0xF2F5_2010,  // F2FS
    0xCA45_1A4E,  // bcachefs
    0x3153_464A,  // JFS
    0x5265_4973,  // ReiserFS
    0x3434,  // NILFS
    0x2405_1905,  // UBIFS
    0x72B6,  // JFFS2
    0x0102_1994,  // tmpfs
    0x8584_58F6,  // ramfs
    0x794C_7630,  // overlayfs
    0xF15F,  // eCryptfs
    0x4D44,  // FAT
    0x2011_BAB0,  // exFAT
    0x7366_746E,  // NTFS
  ]
}
#endif
