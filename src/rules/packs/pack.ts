import type { Severity } from "../../problems/events.ts";

/** An entry that shows what a rule is about. */
export interface SampleEntry {
  readonly message: string;
  readonly level?: "trace" | "debug" | "info" | "warn" | "error" | "fatal";
  readonly service?: string;
  readonly source?: string;
  readonly host?: string;
  readonly attrs?: Readonly<Record<string, unknown>>;
}

/** A rule as it comes with the server. Ids are never given again. */
export interface PackRule {
  readonly id: string;
  readonly name: string;
  /** What it means, and what to do about it. */
  readonly description: string;
  readonly severity: Severity;
  /** Of MITRE ATT&CK; null for what is no attack. */
  readonly attackTechnique: string | null;
  readonly kql: string;
  /** So many entries within so many seconds, apart by these fields. */
  readonly threshold: number;
  readonly windowSec: number;
  readonly groupBy: readonly string[];
  /** One entry that it counts, and one much like it that it does not. */
  readonly counts: SampleEntry;
  readonly leaves: SampleEntry;
}

/** Rules about one kind of source. */
export interface Pack {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** What has to send logs for the rules to find anything, and what their entries look like: a condition that holds for them. */
  readonly expects: { readonly sources: string; readonly kql: string };
  readonly rules: readonly PackRule[];
}

/** The terms of a rule that tells of every single entry. */
export const EACH = { threshold: 1, windowSec: 60 } as const;

/** A rule about several entries as it comes with the server. Ids are never given again. */
export interface CatalogCorrelation {
  readonly id: string;
  readonly name: string;
  /** What it means, and what to do about it. */
  readonly description: string;
  readonly severity: Severity;
  readonly attackTechnique: string;
  readonly joinField: string;
  readonly windowSec: number;
  readonly condition:
    | { readonly kind: "sequence"; readonly steps: readonly string[] }
    | {
        readonly kind: "cardinality";
        readonly matchKql: string;
        readonly distinctField: string;
        readonly threshold: number;
      };
  /** Entries in their order that it tells of; of a cardinality one for each value of the field. */
  readonly chain: readonly SampleEntry[];
}
