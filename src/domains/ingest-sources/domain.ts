import type { Sql } from "postgres";
import type { Logger } from "../../log.ts";
import type { RawMasks } from "../../receive/raw-masks.ts";
import type { LogReceiver } from "../../receive/receive-records.ts";
import { sourceReceiveRoutes } from "./receive-routes.ts";
import { ingestSourceRoutes } from "./routes.ts";
import { SourceService } from "./service.ts";
import { SourceActivity } from "./source-activity.ts";
import type { SourceDirectory } from "./source-directory.ts";

interface IngestSourceDependencies {
  readonly sql: Sql;
  readonly receiver: LogReceiver;
  readonly sources: SourceDirectory;
  readonly rules: RawMasks;
  readonly now: () => number;
  readonly log: Logger;
}

/** The configured senders of records: what people do with them, and what they send. */
export function ingestSourceDomain({ sql, receiver, sources, rules, now, log }: IngestSourceDependencies) {
  const activity = new SourceActivity({ sql, now, log });
  return {
    routes: [
      ...ingestSourceRoutes(new SourceService({ sql, sources, now })),
      ...sourceReceiveRoutes({ receiver, sources, activity, rules }),
    ],
    settle: () => activity.settled(),
  };
}
