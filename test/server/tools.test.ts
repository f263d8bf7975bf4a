/** The operations as tools: definitions that vendors take, whose arguments the server takes. */
import { beforeAll, expect, test } from "bun:test";
import { ListToolsResultSchema } from "@modelcontextprotocol/sdk/types.js";
import Ajv from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { ToolFinder } from "../../src/tools/find-tools.ts";
import { CORE_TOOLS, OTHER_TOOLS } from "../../src/tools/use-when.ts";
import { FORMATS } from "../../src/tools/vendor-formats.ts";
import { makeToken } from "../harness/server-process.ts";
import { type SharedServer, sharedServer } from "../harness/suite-server.ts";
import { QUESTIONS } from "../tools/questions.ts";

interface Tool {
  name: string;
  title: string;
  description: string;
  inputSchema: { properties: Record<string, unknown>; required: string[] };
  annotations: { readOnlyHint: boolean };
}

const CORE_MAX_BYTES = 24_000;
/** The share of questions whose tool is found first; that of the others is among the first three. */
const FIRST_MIN = 0.8;

let server: SharedServer;
let token: string;
beforeAll(async () => {
  server = await sharedServer();
  token = await makeToken(server.url);
});
async function tools(search: string): Promise<Tool[]> {
  const response = await fetch(`${server.url}/api/v1/tools/mcp.json${search}`);
  expect(response.status).toBe(200);
  return JSON.parse(await response.text()).tools;
}

test("every operation of the API that is somebody's own is a tool with a schema of its own and a sentence", async () => {
  const all = await tools("?set=all&write=1");
  expect(all.length).toBeGreaterThan(150);
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  for (const { name, title, inputSchema } of all) {
    expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(title.length).toBeGreaterThan(5);
    expect(JSON.stringify(inputSchema)).not.toContain('"$ref"');
    const ajv = addFormats(new Ajv({ strict: false }));
    expect(() => ajv.compile(inputSchema)).not.toThrow();
  }
});

test("every tool is one by the schema of the protocol's own library", async () => {
  const response = await fetch(`${server.url}/api/v1/tools/mcp.json?set=all&write=1`);
  const parsed = ListToolsResultSchema.safeParse(JSON.parse(await response.text()));
  expect(parsed.error).toBeUndefined();
});

test("the core set is small, reads only, and says of each when it is the right one", async () => {
  const core = await tools("");
  const writing = (await tools("?write=1")).filter(({ annotations }) => !annotations.readOnlyHint);
  expect([...core, ...writing].map(({ name }) => name).toSorted()).toEqual(
    Object.keys(CORE_TOOLS).toSorted(),
  );
  expect(core.every(({ annotations }) => annotations.readOnlyHint)).toBe(true);
  expect(core.every(({ description }) => description.includes("Use "))).toBe(true);
  expect(JSON.stringify(core).length).toBeLessThanOrEqual(CORE_MAX_BYTES);
});

test("nothing changes anything unless it is asked for", async () => {
  expect((await tools("?set=all")).every(({ annotations }) => annotations.readOnlyHint)).toBe(true);
  expect((await tools("?set=all&write=1")).some(({ annotations }) => !annotations.readOnlyHint)).toBe(true);
});

test("each vendor's form names the same tools", async () => {
  const names = (await tools("")).map(({ name }) => name);
  const listed = await fetch(`${server.url}/api/v1/tools`);
  expect(JSON.parse(await listed.text()).map(({ format }: { format: string }) => format)).toEqual(
    Object.keys(FORMATS),
  );
  for (const format of Object.keys(FORMATS)) {
    const text = await (await fetch(`${server.url}/api/v1/tools/${format}.json`)).text();
    for (const name of names) expect(text).toContain(`"name":"${name}"`);
  }
  const unknown = await fetch(`${server.url}/api/v1/tools/other.json`);
  expect(unknown.status).toBeOneOf([400, 404]);
});

test("a tool that needs nothing is answered by the operation that it is made of", async () => {
  const paths: Record<string, string> = {};
  const document = JSON.parse(await (await fetch(`${server.url}/openapi.json`)).text());
  for (const [path, methods] of Object.entries<Record<string, { operationId: string }>>(document.paths))
    for (const [method, { operationId }] of Object.entries(methods))
      if (method === "get") paths[operationId] = path;
  for (const { name, inputSchema } of await tools("")) {
    const path = paths[name];
    if (path === undefined || inputSchema.required.length > 0) continue;
    const response = await fetch(server.url + path, { headers: { authorization: `Bearer ${token}` } });
    expect([name, response.status]).toEqual([name, 200]);
  }
});

async function finderOfAll() {
  const all = await tools("?set=all&write=1");
  const described = all.map(({ name, title }) => {
    return { name, title, useWhen: CORE_TOOLS[name] ?? OTHER_TOOLS[name] ?? null };
  });
  const finder = new ToolFinder(described);
  const rankOf = (question: string, tool: string): number =>
    finder.find(question).findIndex(({ name }) => name === tool) + 1;
  return { described, finder, rankOf };
}

test("what tools say of themselves leads from a question to the right one, mostly at once", async () => {
  const { finder, rankOf } = await finderOfAll();
  const ranks = QUESTIONS.map(([question, tool]) => ({ question, tool, rank: rankOf(question, tool) }));
  expect(ranks.filter(({ rank }) => rank < 1 || rank > 3)).toEqual([]);
  const first = ranks.filter(({ rank }) => rank === 1).length;
  expect(first / ranks.length).toBeGreaterThanOrEqual(FIRST_MIN);
  for (const nothing of ["", "?!", "the of and", "zzzzqqq"]) expect(finder.find(nothing)).toEqual([]);
});

test("every tool is found by its own title, and what is said of tools is said of some that there are", async () => {
  const { described, rankOf } = await finderOfAll();
  const lost = described.filter(({ name, title }) => rankOf(title, name) < 1 || rankOf(title, name) > 3);
  expect(lost).toEqual([]);
  const names = described.map(({ name }) => name);
  expect(
    [...Object.keys(CORE_TOOLS), ...Object.keys(OTHER_TOOLS)].filter((name) => !names.includes(name)),
  ).toEqual([]);
});
