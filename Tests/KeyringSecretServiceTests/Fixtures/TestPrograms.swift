// Most of these tests start a program.
@_exported import TestPrograms
