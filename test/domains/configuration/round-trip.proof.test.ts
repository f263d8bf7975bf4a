import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { proofRounds } from "../../harness/proof.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { configurationServer, type Resources } from "./configuration-server.ts";
import { randomResources } from "./random-resources.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

const NO_CHANGE = { hasChanges: false, changes: [] };

test("what an organisation has makes another one the same, and then nothing is left to change", async () => {
  const server = configurationServer(stores);
  let rounds = 0;
  const resources = randomResources("EMAIL", "SLUG");
  await fc.assert(
    fc.asyncProperty(resources, async (template) => {
      const n = ++rounds;
      const [one, other] = [await server.organization(`one-${n}`), await server.organization(`other-${n}`)];
      const wanted = filled(template, { EMAIL: one.email, SLUG: `page-one-${n}` });
      await one.apply(wanted);
      expect(await one.plan(wanted)).toMatchObject(NO_CHANGE);
      expect(await one.apply(wanted)).toMatchObject(NO_CHANGE);
      const exported = await one.export();
      expect(await one.plan(exported)).toMatchObject(NO_CHANGE);

      const told = withSecrets(exported, wanted);
      const theirs = filled(told, { [one.email]: other.email, [`page-one-${n}`]: `page-other-${n}` });
      await other.apply(theirs);
      const again = filled(await other.export(), {
        [other.email]: one.email,
        [`page-other-${n}`]: `page-one-${n}`,
      });
      expect(again).toEqual(exported);
      expect(await other.apply(theirs)).toMatchObject(NO_CHANGE);

      // Without its keys it is described under others, and taken over as it is.
      await stores.postgres`DELETE FROM config_bindings WHERE organization_id = ${one.id}`;
      const unbound = await one.export();
      const adopted = await one.apply(unbound, { adopt: true });
      expect(adopted.changes.filter(({ action }) => action !== "unchanged")).toEqual([]);
      expect(await one.plan(unbound)).toMatchObject(NO_CHANGE);

      await other.apply({}, { prune: true });
      expect(await other.export()).toEqual({});
    }),
    { numRuns: proofRounds({ sample: 6, whole: 100 }) },
  );
});

/** The same with other texts in the place of some. */
function filled(resources: Resources, texts: Readonly<Record<string, string>>): Resources {
  const replaced = (_name: string, value: unknown): unknown =>
    typeof value === "string" && Object.hasOwn(texts, value) ? texts[value] : value;
  const answer: Resources = JSON.parse(JSON.stringify(resources, replaced));
  return answer;
}

/** What was exported with the secrets that it leaves out. */
function withSecrets(exported: Resources, wanted: Resources): Resources {
  return Object.fromEntries(
    Object.entries(exported).map(([kind, records]) => [
      kind,
      Object.fromEntries(
        Object.entries(records).map(([key, record]) => [
          key,
          Object.fromEntries(
            Object.entries(record).map(([name, value]) => [
              name,
              JSON.stringify(value) === '{"secret":"kept"}' ? wanted[kind]?.[key]?.[name] : value,
            ]),
          ),
        ]),
      ),
    ]),
  );
}
