/** Whatever happens in whatever order, incidents are what a naive reading of the rules says that they are. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import type { Incident } from "../../../src/domains/incidents/types.ts";
import { SEVERITIES } from "../../../src/problems/events.ts";
import { proofRounds } from "../../harness/proof.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import {
  INCIDENTS,
  incidentServer,
  MINUTE_MS,
  makeOrganization,
  makePerson,
  START_MS,
} from "./incident-server.ts";

let stores: TestStores;
let sql: TestStores["postgres"];
let person: number;
beforeAll(async () => {
  stores = await openTestStores();
  sql = stores.postgres;
  person = await makePerson(sql);
});
afterAll(() => stores.close());

const KEYS = ["monitor:1", "rule:2:a"];

type Step =
  | { act: "wait"; minutes: number }
  | { act: "raise"; key: number; severity: Incident["severity"] }
  | { act: "clear"; key: number; cause: "recovered" | "paused" | "deleted" | "sender" }
  | { act: "settle" }
  | { act: "acknowledge"; which: number }
  | { act: "resolve"; which: number }
  | { act: "update"; which: number; status: Incident["status"] };

const key = fc.nat({ max: KEYS.length - 1 });
const which = fc.nat({ max: 3 });
const cause = fc.constantFrom("recovered", "recovered", "recovered", "sender", "paused", "deleted" as const);
const statuses = ["investigating", "identified", "monitoring", "resolved"] as const;
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ act: fc.constant("wait" as const), minutes: fc.constantFrom(1, 4, 9, 10, 30) }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        act: fc.constant("raise" as const),
        key,
        severity: fc.constantFrom(...SEVERITIES),
      }),
    },
    { weight: 5, arbitrary: fc.record({ act: fc.constant("clear" as const), key, cause }) },
    { weight: 1, arbitrary: fc.record({ act: fc.constant("settle" as const) }) },
    { weight: 1, arbitrary: fc.record({ act: fc.constant("acknowledge" as const), which }) },
    { weight: 1, arbitrary: fc.record({ act: fc.constant("resolve" as const), which }) },
    {
      weight: 2,
      arbitrary: fc.record({
        act: fc.constant("update" as const),
        which,
        status: fc.constantFrom(...statuses),
      }),
    },
  ),
  { maxLength: 30, size: "max" },
);

/** An incident as the naive reading has it; times in minutes. */
interface Naive {
  key: string;
  status: Incident["status"];
  severity: Incident["severity"];
  openedAt: number;
  /** Every minute at which it became wrong. */
  wrongAt: number[];
  endedAt: number | null;
  resolution: Incident["resolution"];
  acknowledged: boolean;
  reopened: number;
  flapping: boolean;
  /** Said to be well, and not believed yet. */
  settling: boolean;
}

class Model {
  readonly incidents: Naive[] = [];
  readonly told: string[] = [];
  minute = 0;

  openOf(name: string): Naive | undefined {
    return this.incidents.find((one) => one.key === name && one.status !== "resolved");
  }

  raise(name: string, severity: Incident["severity"]): void {
    const open = this.openOf(name);
    if (open !== undefined) {
      if (open.settling) open.reopened += 1;
      open.settling = false;
      if (open.severity !== severity) this.told.push("incident.updated");
      open.severity = severity;
      return;
    }
    const last = this.incidents.findLast((one) => one.key === name);
    const byItself = last?.resolution === "recovered" || last?.resolution === "sender";
    if (last !== undefined && byItself && this.minute - (last.endedAt ?? 0) < 10) {
      last.wrongAt.push(this.minute);
      const withinTheHour = last.wrongAt.filter((at) => this.minute - at < 60).length;
      const status = "investigating";
      Object.assign(last, { status, severity, endedAt: null, resolution: null, acknowledged: false });
      last.reopened += 1;
      last.flapping = withinTheHour >= 3;
      this.told.push("incident.reopened");
      return;
    }
    this.told.push("incident.opened");
    this.incidents.push({
      key: name,
      status: "investigating",
      severity,
      openedAt: this.minute,
      wrongAt: [this.minute],
      endedAt: null,
      resolution: null,
      acknowledged: false,
      reopened: 0,
      flapping: false,
      settling: false,
    });
  }

  clear(name: string, why: "recovered" | "paused" | "deleted" | "sender"): void {
    const open = this.openOf(name);
    if (open === undefined) return;
    if (open.flapping && (why === "recovered" || why === "sender")) open.settling = true;
    else this.end(open, why);
  }

  end(one: Naive, resolution: Incident["resolution"]): void {
    Object.assign(one, { status: "resolved", endedAt: this.minute, resolution, settling: false });
    this.told.push("incident.resolved");
  }

  settle(): void {
    for (const one of this.incidents.filter(({ settling }) => settling)) this.end(one, "recovered");
  }

  /** The status of the answer. */
  byHand(step: Extract<Step, { which: number }>): number {
    const one = this.incidents[step.which];
    if (one === undefined) return 404;
    const isOver = one.status === "resolved";
    if (step.act === "acknowledge") {
      if (isOver) return 409;
      if (!one.acknowledged) this.told.push("incident.acknowledged");
      one.acknowledged = true;
      return 200;
    }
    if (step.act !== "update") {
      if (!isOver) this.end(one, "person");
      return 200;
    }
    if (!isOver && step.status === "resolved") this.end(one, "person");
    else if (isOver && step.status !== "resolved") {
      if (this.openOf(one.key) !== undefined) return 409;
      const { status } = step;
      Object.assign(one, { status, endedAt: null, resolution: null, acknowledged: false, flapping: false });
      one.reopened += 1;
      this.told.push("incident.reopened");
    } else {
      one.status = step.status;
      this.told.push("incident.updated");
    }
    return 201;
  }
}

const shown = (one: Naive): object => ({
  sourceKey: one.key,
  status: one.status,
  severity: one.severity,
  openedAt: new Date(START_MS + one.openedAt * MINUTE_MS).toISOString(),
  resolvedAt: one.endedAt === null ? null : new Date(START_MS + one.endedAt * MINUTE_MS).toISOString(),
  resolution: one.resolution,
  reopened: one.reopened,
  flapping: one.flapping,
});

test("any story of two keys ends as the rules say, and is told in their order", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (story) => {
      const server = incidentServer(sql, { person });
      const organizationId = await makeOrganization(sql);
      const model = new Model();
      const ids: number[] = [];
      for (const step of story) {
        server.clock.nowMs = START_MS + model.minute * MINUTE_MS;
        if (step.act === "wait") model.minute += step.minutes;
        else if (step.act === "raise") {
          const name = KEYS[step.key] ?? "";
          await server.raise(organizationId, { key: name, severity: step.severity });
          model.raise(name, step.severity);
        } else if (step.act === "clear") {
          const name = KEYS[step.key] ?? "";
          await server.clear(organizationId, { key: name, cause: step.cause });
          model.clear(name, step.cause);
        } else if (step.act === "settle") {
          await sql`UPDATE incidents SET settle_at = now() WHERE settle_at IS NOT NULL AND organization_id = ${organizationId}`;
          await server.settling.workOnce(new AbortController().signal);
          model.settle();
        } else {
          const json = step.act === "update" ? { status: step.status, body: "x" } : undefined;
          const action = step.act === "update" ? "updates" : step.act;
          const path = `${INCIDENTS}/${ids[step.which] ?? 999_999_999}/${action}`;
          expect((await server.send(organizationId, "POST", path, json)).status).toBe(model.byHand(step));
        }
        await server.deliver();
        const { items } = await server.list(organizationId, "?limit=1000");
        items.sort((a, b) => a.id - b.id);
        ids.splice(0, ids.length, ...items.map(({ id }) => id));
        expect(items).toMatchObject(model.incidents.map(shown));
        expect(items.map(({ acknowledgedAt }) => acknowledgedAt !== null)).toEqual(
          model.incidents.map(({ acknowledged }) => acknowledged),
        );
      }
      expect(server.told.map(({ kind }) => kind).toSorted()).toEqual(model.told.toSorted());
    }),
    { numRuns: proofRounds({ sample: 15, whole: 500 }) },
  );
}, 1_200_000);
