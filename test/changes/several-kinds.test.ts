/** A subscriber to several kinds of event hears a subject's story as it went. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SERVER_ORIGIN } from "../../src/changes/changes.ts";
import {
  type EventHandler,
  on,
  type Subscription,
  subscribeInOrder,
} from "../../src/changes/events/subscription.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import {
  eventServer,
  insertThing,
  JOB,
  keeper,
  letTimePass,
  makeOrganization,
  thingCopied,
  thingMade,
  thingsOf,
} from "./event-server.ts";

let stores: TestStores;
let sql: TestStores["postgres"];
beforeAll(async () => {
  stores = await openTestStores();
  sql = stores.postgres;
});
afterAll(() => stores.close());

describe("a subscriber to several kinds", () => {
  const kinds = (...known: EventHandler[]): Subscription => subscribeInOrder("story", known);
  const made = on(thingMade, ({ subject, payload }, change) =>
    insertThing(change, `made ${subject} ${payload.n}`),
  );
  const copied = on(thingCopied, ({ subject, payload }, change) =>
    insertThing(change, `copied ${subject} ${payload.n}`),
  );

  /** Emits a kind and then the other one about each subject, in changes of their own. */
  async function tellStories(server: ReturnType<typeof eventServer>, organizationId: number): Promise<void> {
    for (const kind of [thingMade, thingCopied, thingMade])
      for (const subject of ["thing:1", "thing:2"])
        await server.changes.inChange(
          { organizationId, actor: JOB, origin: SERVER_ORIGIN },
          null,
          async (change) => change.emit(kind, subject, { n: 1 }),
        );
  }

  test("is told of them in one order", async () => {
    const organizationId = await makeOrganization(sql);
    const server = eventServer(sql, [kinds(made, copied)]);
    await tellStories(server, organizationId);
    await server.deliver();
    const things = await thingsOf(sql, organizationId);
    for (const subject of ["thing:1", "thing:2"])
      expect(things.filter((thing) => thing.includes(subject))).toEqual([
        `made ${subject} 1`,
        `copied ${subject} 1`,
        `made ${subject} 1`,
      ]);
  });

  test("of which this server does not know one waits with it, and with what comes behind", async () => {
    const organizationId = await makeOrganization(sql);
    await tellStories(eventServer(sql, [kinds(made, copied)]), organizationId);
    await eventServer(sql, [kinds(made)]).deliver();
    expect((await thingsOf(sql, organizationId)).toSorted()).toEqual(["made thing:1 1", "made thing:2 1"]);
    await letTimePass(sql);
    await eventServer(sql, [kinds(made, copied)]).deliver();
    expect(await thingsOf(sql, organizationId)).toHaveLength(6);
  });

  test("of one kind twice is refused", () => {
    expect(() => kinds(made, made)).toThrow("twice");
  });
});

test("two subscribers of one name are refused", () => {
  expect(() => eventServer(sql, [keeper("keep"), keeper("keep")])).toThrow("one name");
});
