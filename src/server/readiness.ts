import { type DependencyCheck, type Readiness, readinessOf } from "../health/readiness.ts";
import type { Stores } from "../storage/open.ts";

interface ServerReadinessOptions {
  readonly stores: Pick<Stores, "statuses">;
  /** Of the write-ahead log and its disk. */
  readonly ingestChecks: readonly DependencyCheck[];
  /** Of every part, that of ingest among them. */
  readonly checks: readonly DependencyCheck[];
}

/** What health is asked for. */
interface ServerReadiness {
  /** Every store and every part. */
  readonly all: Readiness;
  /** What an acknowledgement of entries needs: the log, its disk, and Postgres, which knows the senders. */
  readonly ingest: Readiness;
}

export function serverReadiness({ stores, ingestChecks, checks }: ServerReadinessOptions): ServerReadiness {
  const storeChecks = stores.statuses().map(({ name }) => storeCheck(stores, name));
  return {
    all: readinessOf([...storeChecks, ...checks]),
    ingest: readinessOf([...storeChecks.filter(({ name }) => name === "postgres"), ...ingestChecks]),
  };
}

function storeCheck(stores: Pick<Stores, "statuses">, name: string): DependencyCheck {
  return {
    name,
    check: async () => {
      const status = stores.statuses().find((candidate) => candidate.name === name);
      // Without Redis every instance counts alone, which is worse but works.
      const failed = name === "redis" ? "degraded" : "down";
      const answering = status?.isDamaged ? "degraded" : "up";
      return {
        state: status?.ok === true ? answering : failed,
        ...(status?.detail ? { detail: status.detail } : {}),
      };
    },
  };
}
