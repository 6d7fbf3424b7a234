package dev.extant;

import dev.extant.journal.JournalStatistics;
import dev.extant.vfs.VolumeStatistics;

/// The figures of one mount at one moment: its space, and its journal's figures since the mount,
/// null where there is no journal in use.
public record ExtantStatistics(VolumeStatistics space, JournalStatistics journal) {}
