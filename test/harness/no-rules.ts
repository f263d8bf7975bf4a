import type { RawMasks } from "../../src/receive/raw-masks.ts";

/** Of organisations that hide nothing. */
export const NO_RULES: RawMasks = { rawMaskerOf: () => Promise.resolve(null) };
