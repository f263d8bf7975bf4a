import { ACCESS } from "./lists/access.ts";
import { CHANGES } from "./lists/changes.ts";
import { CONFIGURATION } from "./lists/configuration.ts";
import { COUNTING } from "./lists/counting.ts";
import { FINDINGS } from "./lists/findings.ts";
import { INCIDENTS } from "./lists/incidents.ts";
import { INGEST } from "./lists/ingest.ts";
import { MASKING } from "./lists/masking.ts";
import { MONITORS } from "./lists/monitors.ts";
import { PAGING } from "./lists/paging.ts";
import { READING } from "./lists/reading.ts";
import { RECORDS } from "./lists/records.ts";
import { REQUESTS } from "./lists/requests.ts";
import { RULES } from "./lists/rules.ts";
import { SHARES } from "./lists/shares.ts";
import { TELLING } from "./lists/telling.ts";
import { WATCHES } from "./lists/watches.ts";
import { WIRES } from "./lists/wires.ts";
import { WORK } from "./lists/work.ts";
import type { Mutant } from "./mutant.ts";

/** The faults that are kept, by area: places where one would leak, lose or double. */
export const AREAS: Readonly<Record<string, readonly Mutant[]>> = {
  access: ACCESS,
  requests: REQUESTS,
  changes: CHANGES,
  work: WORK,
  watches: WATCHES,
  shares: SHARES,
  incidents: INCIDENTS,
  counting: COUNTING,
  ingest: INGEST,
  masking: MASKING,
  wires: WIRES,
  records: RECORDS,
  reading: READING,
  monitors: MONITORS,
  paging: PAGING,
  rules: RULES,
  findings: FINDINGS,
  telling: TELLING,
  configuration: CONFIGURATION,
};
