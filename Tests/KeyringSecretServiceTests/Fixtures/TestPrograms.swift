// SPDX-License-Identifier: Apache-2.0

// Most of these tests start a program.
@_exported import TestPrograms
