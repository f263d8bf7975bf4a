import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { ROLES } from "../../../src/access/principal.ts";
import { eventually } from "../../harness/eventually.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { MEMBERS, organizationServer } from "./organization-server.ts";

const PEOPLE = 4;

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

/** Somebody changes the role of somebody, or removes them when there is no role. */
const act = fc.record({
  actor: fc.nat(PEOPLE - 1),
  target: fc.nat(PEOPLE - 1),
  role: fc.constantFrom(null, ...ROLES),
});

test("whatever owners do to each other at the same moment on two instances, one is left", async () => {
  const instances = [organizationServer(stores), organizationServer(stores)];
  const [server = organizationServer(stores)] = instances;
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 2, maxLength: 10 }), async (acts) => {
      const first = await server.register();
      const people = [first];
      while (people.length < PEOPLE) people.push(await server.recruit(first.cookie, "owner"));
      const answers = await Promise.all(
        acts.map(({ actor, target, role }, i) => {
          const at = instances[i % instances.length] ?? server;
          const path = `${MEMBERS}/${people[target]?.account.user.id}`;
          const cookie = people[actor]?.cookie ?? "";
          return role === null ? at.as(cookie, "DELETE", path) : at.as(cookie, "PATCH", path, { role });
        }),
      );
      for (const { status } of answers) expect([200, 204, 401, 403, 404, 409]).toContain(status);
      const members = await stores.postgres<{ role: string }[]>`
        SELECT role FROM memberships WHERE organization_id = ${first.account.organization.id}`;
      expect(members.some(({ role }) => role === "owner")).toBe(true);
      const told = async (): Promise<boolean> => {
        await Promise.all(instances.map((instance) => instance.deliverEvents()));
        return (await stores.postgres`SELECT 1 FROM event_deliveries`).length === 0;
      };
      await eventually("the end of what follows", told);
      const homeless = await stores.postgres`
        SELECT 1 FROM users u WHERE NOT EXISTS (SELECT 1 FROM memberships m WHERE m.user_id = u.id)`;
      expect(homeless).toHaveLength(0);
    }),
    { numRuns: 25 },
  );
});
