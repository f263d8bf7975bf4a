/** Arguments drawn from the definition of each tool, through the real server: none is refused for what a schema can say. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { connect, type McpClient } from "../domains/mcp/mcp-clients.ts";
import { proofRounds } from "../harness/proof.ts";
import { makeToken, type ServerProcess } from "../harness/server-process.ts";
import { startSuiteServer } from "../harness/suite-server.ts";
import { type ByName, type Schema, valuesOf } from "./arguments-of.ts";

interface Tool {
  readonly name: string;
  readonly inputSchema: Schema;
}

/** What is told of values that go together wrongly, which no schema of arguments says. */
const ACROSS_FIELDS = "custom";

/** What descriptions say and no schema does, of every tool. */
const BY_DESCRIPTION: ByName = {
  // Nobody makes one up: it comes from the page before.
  cursor: null,
  // What they may be depends on the length of time.
  ...{ bucketSec: null, bucket: null },
  ip: fc.ipV4(),
  email: fc.constantFrom("ana@obs-test.invalid", "ben@obs-test.invalid"),
  domains: fc.constantFrom([], ["obs-test.invalid"]),
  principal: fc.stringMatching(/^[a-z]{1,20}$/),
  zone: fc.constantFrom("+02:00", "Europe/Berlin"),
};
const PATH = fc.constantFrom("user.name", "items[0]");
/** Of members of what a sender sends. */
const PATHS: ByName = { from: PATH, fromDefault: PATH, records: PATH };
/** The same of one tool. */
const BY_DESCRIPTION_OF: Readonly<Record<string, ByName>> = {
  getIncidents: {
    limit: fc.integer({ min: 1, max: 1000 }).map(String),
    offset: fc.integer({ min: 0, max: 10_000 }).map(String),
  },
  // Neither the token that asks nor whose it is.
  deleteMeTokensById: { id: fc.integer({ min: 1_000_000 }).map(String) },
  deleteMeMembersByUserId: { userId: fc.integer({ min: 1_000_000 }).map(String) },
  postIngestSources: PATHS,
  patchIngestSourcesByKey: PATHS,
  getKqlTablesByName: { name: fc.stringMatching(/^[a-z]{1,20}$/) },
  // Kinds of records are named by what is exported, and each has fields of its own.
  getConfig: { kinds: fc.constantFrom(["monitors"], ["log-alerts", "iocs"]) },
  postConfigPlan: { resources: fc.constant({}) },
  postConfigApply: { resources: fc.constant({}) },
  deleteKqlTablesByName: { name: fc.stringMatching(/^[a-z]{1,20}$/) },
  // Which form they have says `type`, and which there are says `kind`.
  postIocs: { type: fc.constant("ip"), value: fc.ipV4() },
  postIocsAllowList: { type: fc.constant("ip"), value: fc.ipV4() },
  postMeContactMethods: {
    kind: fc.constant("email"),
    address: fc.constant("ana@obs-test.invalid"),
    ...{ number: null, url: null },
  },
};

let server: ServerProcess;
let client: McpClient;
let tools: readonly Tool[];
beforeAll(async () => {
  server = await startSuiteServer();
  client = await connect({ url: server.url, token: await makeToken(server.url), mayWrite: true });
  const listed = await fetch(`${server.url}/api/v1/tools/mcp.json?set=all&write=1`);
  tools = JSON.parse(await listed.text()).tools;
});
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await server.stop();
});

test("what a definition admits is never refused as not valid, for every tool", async () => {
  const wrong: string[] = [];
  for (const { name, inputSchema } of tools) {
    const property = fc.asyncProperty(
      valuesOf(inputSchema, { ...BY_DESCRIPTION, ...BY_DESCRIPTION_OF[name] }),
      async (given) => {
        const { content } = await client.call("call_operation", { operation: name, arguments: given });
        expect(content.code).not.toBe("UNAUTHENTICATED");
        if (content.code !== "VALIDATION_FAILED") return;
        const fields: readonly { code: string }[] = Array.isArray(content.fields) ? content.fields : [];
        const ofSchema = fields.filter(({ code }) => code !== ACROSS_FIELDS);
        if (ofSchema.length > 0) throw new Error(JSON.stringify(ofSchema).slice(0, 500));
      },
    );
    const { failed, counterexample, errorInstance } = await fc.check(property, {
      numRuns: proofRounds({ sample: 3, whole: 100 }),
      endOnFailure: true,
    });
    if (failed) wrong.push(`${name}: ${JSON.stringify(counterexample)}: ${String(errorInstance)}`);
  }
  expect(wrong).toEqual([]);
});
