extension Migration {
  /// The phases of a migration, each of which is over for all items before the next begins.
  public enum Phase: Sendable, Hashable, CaseIterable {
    /// Items are compared with what the destination has already.
    case checking
    /// Items are stored in the destination.
    case writing
    /// Items are read back from the destination and compared.
    case verifying
    /// Items are removed from the source.
    case removing
  }

  /// How far a migration has come.
  public struct Progress: Sendable, Hashable {
    /// What is being done.
    public let phase: Phase
    /// For how many items that is done.
    public internal(set) var completed: Int
    /// How many items there are; the same in every phase.
    public let total: Int
  }
}
