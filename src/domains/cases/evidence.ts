import type { TransactionSql } from "postgres";
import { ApiError } from "../../errors.ts";
import { SNAPSHOT_MAX_BYTES } from "./limits.ts";
import { invalid } from "./refusals.ts";
import { findDetection } from "./store.ts";
import type { EvidenceBody } from "./types.ts";

/** A copy of what proves something, and when that happened. */
export interface Copy {
  readonly snapshot: object | null;
  readonly eventAt: Date | null;
}

/** What is copied of other parts of the server, as its readers see it. Both throw NOT_FOUND. */
interface Originals {
  readonly readEntry: (id: string) => Promise<{ readonly ts: string }>;
  readonly readIncident: (id: number) => Promise<{ readonly openedAt: string }>;
}

/**
 * What a piece of evidence is a copy of; read before the change, for which others of the organisation wait. Throws
 * VALIDATION_FAILED for what is not there.
 */
export async function copyOf({ kind, ref, eventAt }: EvidenceBody, originals: Originals): Promise<Copy> {
  const missing = (error: unknown): never => {
    if (error instanceof ApiError && error.code === "NOT_FOUND") throw noSuchEvidence(kind);
    throw error;
  };
  if (kind === "log") {
    if (!/^(?:0|[1-9][0-9]{0,19})$/.test(ref)) throw noSuchEvidence(kind);
    const entry = await originals.readEntry(ref).catch(missing);
    return bounded({ snapshot: { ...entry }, eventAt: new Date(entry.ts) });
  }
  if (kind === "incident") {
    if (!/^[1-9][0-9]{0,14}$/.test(ref)) throw noSuchEvidence(kind);
    const incident = await originals.readIncident(Number(ref)).catch(missing);
    return bounded({ snapshot: { ...incident }, eventAt: new Date(incident.openedAt) });
  }
  return { snapshot: null, eventAt: eventAt === undefined ? null : new Date(eventAt) };
}

/** Throws VALIDATION_FAILED. */
export async function detectionCopy(tx: TransactionSql, organizationId: number, ref: string): Promise<Copy> {
  const found = await findDetection(tx, organizationId, ref);
  if (found === null) throw noSuchEvidence("detection");
  return bounded(found);
}

function bounded(copy: Copy): Copy {
  const bytes = Buffer.byteLength(JSON.stringify(copy.snapshot));
  if (bytes > SNAPSHOT_MAX_BYTES)
    throw invalid("/ref", `has ${bytes} bytes; at most ${SNAPSHOT_MAX_BYTES} are copied`);
  return copy;
}

function noSuchEvidence(kind: EvidenceBody["kind"]): ApiError {
  const what = { log: "log entry", incident: "incident", detection: "detection", text: "text" }[kind];
  return invalid("/ref", `is no ${what} of yours`);
}
