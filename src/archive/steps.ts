import type { UnitKey } from "./ledger/unit-store.ts";

/** The steps of a unit, in their order: the first ones bring it into the archive, the others out of the log store. */
export const ARCHIVE_STEPS = [
  "begun",
  "staged",
  "written",
  "settled",
  "verified",
  "committed",
  "deleted",
  "finished",
  "cleaned",
] as const;
export type ArchiveStep = (typeof ARCHIVE_STEPS)[number];

/** Told after each step; what it throws ends the work on the unit, as a crash would. */
export type StepObserver = (step: ArchiveStep, unit: UnitKey) => void;
