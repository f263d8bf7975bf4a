import type { Mapping, SourceFormat } from "../mapping.ts";
import type { Preview } from "../preview.ts";
import type { InferredFieldName } from "./candidates.ts";

export interface InferredField {
  readonly field: InferredFieldName;
  /** The path, or the template or constant that makes the field; null where nothing was found. */
  readonly from: string | null;
  readonly confidence: number;
  readonly reason: string;
}

export interface InferredAlternative {
  /** The field that could come from elsewhere; "preset" for another preset that fits. */
  readonly field: InferredFieldName | "preset";
  readonly from: string;
  readonly confidence: number;
}

/** A mapping that is proposed for a sample, and how sure that is. */
export interface Inferred {
  readonly format: SourceFormat;
  readonly mapping: Mapping;
  /** The preset that the mapping is of; null when it was made for the sample. */
  readonly preset: string | null;
  /** 0 to 1: that entries have the right time, message and level. */
  readonly confidence: number;
  readonly fields: readonly InferredField[];
  /** What the first records would be stored as. */
  readonly preview: readonly Preview[];
  readonly alternatives: readonly InferredAlternative[];
  /** Paths that become attributes, in the order of the sample. */
  readonly unmapped: readonly string[];
}

/** Records of which it is shown what they would be stored as. */
export const PREVIEW_MAX_COUNT = 3;
/** What each field is worth for the confidence in the whole: an entry without a time of its own is worth least. */
const WEIGHTS: Partial<Record<InferredFieldName, number>> = {
  timestamp: 0.4,
  message: 0.35,
  level: 0.15,
  service: 0.1,
};
/** Fields that many formats do not have; not finding one is no sign of a mistake. */
const WITHOUT: Partial<Record<InferredFieldName, number>> = { level: 0.6, service: 0.6 };
const PERCENT = 100;

/** How sure the whole is, by its fields. */
export function confidenceIn(fields: readonly InferredField[]): number {
  let sum = 0;
  for (const { field, from, confidence } of fields)
    sum += (WEIGHTS[field] ?? 0) * (from === null ? (WITHOUT[field] ?? 0) : confidence);
  return rounded(sum);
}

export function rounded(confidence: number): number {
  return Math.round(confidence * PERCENT) / PERCENT;
}
