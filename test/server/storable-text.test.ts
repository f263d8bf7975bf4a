import { afterAll, beforeAll, expect, test } from "bun:test";
import { operationsOf } from "../harness/api-document.ts";
import type { ServerProcess } from "../harness/server-process.ts";
import { startSuiteServer } from "../harness/suite-server.ts";

/**
 * Texts and times that Postgres cannot hold are the caller's fault, wherever a text or a time may stand in a JSON body, a
 * query or a path of the server's own OpenAPI document: an operation is covered on the day it is added.
 */

type Schema = Readonly<Record<string, unknown>>;

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly body: Schema | null;
}

/** One call: what was put where, for the message of a failure. */
interface Call {
  readonly method: string;
  readonly path: string;
  readonly json?: unknown;
}

const BAD_TEXTS = ["a\0b", "a\ud800b"];
const BAD_NAME = "na\0me";
const EXTREME_TIMES = ["0000-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59"];
/** Texts of the forms that the API asks for. */
const SAMPLES = ["999999999", "example.com"];
const CALLS_AT_A_TIME = 8;
/** An answer that takes longer is a stream, which is not what is looked for. */
const ANSWER_TIMEOUT_MS = 180_000;

/** Names of what is made must not be taken already. */
let names = 0;
let server: ServerProcess;
let cookie: string;

beforeAll(async () => {
  server = await startSuiteServer();
  const registered = await fetch(`${server.url}/api/v1/auth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: `${crypto.randomUUID()}@example.com`, password: crypto.randomUUID() }),
  });
  cookie = registered.headers.get("set-cookie")?.split(";")[0] ?? "";
});
afterAll(async () => {
  await server.stop();
});

async function readOperations(): Promise<Operation[]> {
  const document: unknown = await (await fetch(`${server.url}/openapi.json`)).json();
  return operationsOf(document).map(({ method, path, parameters, requestBody }) => ({
    method,
    path,
    parameters: parameters.filter((parameter) => parameter.in !== "header"),
    body: requestBody?.content["application/json"]?.schema ?? null,
  }));
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function schemasOf(value: unknown): Schema[] {
  return Array.isArray(value) ? value.filter(isSchema) : [];
}

function propertiesOf({ properties }: Schema): [string, Schema][] {
  return isSchema(properties)
    ? Object.entries(properties).flatMap(([name, one]): [string, Schema][] =>
        isSchema(one) ? [[name, one]] : [],
      )
    : [];
}

/** A value that a schema takes, of an object only what is required. */
function sampleOf(schema: Schema): unknown {
  const [choice] = [...schemasOf(schema.anyOf), ...schemasOf(schema.oneOf)];
  if (choice !== undefined) return sampleOf(choice);
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const { type } = schema;
  if (type === "string") return sampleText(schema);
  if (type === "integer" || type === "number") return schema.minimum ?? 1;
  if (type === "boolean") return false;
  if (type === "array")
    return isSchema(schema.items) && schema.minItems !== undefined ? [sampleOf(schema.items)] : [];
  if (type !== "object") return {};
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
  return Object.fromEntries(
    propertiesOf(schema).flatMap(([name, one]) => (required.includes(name) ? [[name, sampleOf(one)]] : [])),
  );
}

function sampleText({ format, pattern, minLength }: Schema): string {
  const name = `sample-${++names}`;
  if (format === "email") return `${name}@example.com`;
  if (format === "date-time") return "2026-01-01T00:00:00Z";
  if (format === "uri") return "https://example.com/";
  const fits = (text: string): boolean => typeof pattern !== "string" || new RegExp(pattern, "u").test(text);
  const length = typeof minLength === "number" ? minLength : 0;
  return ([name, ...SAMPLES].find(fits) ?? name).padEnd(length, "x");
}

/** The sample of a schema with one bad text or time in it, for every place where one may stand. */
function* spoilt(schema: Schema): Generator<unknown> {
  const choices = [...schemasOf(schema.anyOf), ...schemasOf(schema.oneOf)];
  for (const choice of choices) yield* spoilt(choice);
  const { type, format, minLength, items, additionalProperties, patternProperties } = schema;
  if (type === "string") {
    const length = typeof minLength === "number" ? minLength : 0;
    yield* format === "date-time" ? EXTREME_TIMES : BAD_TEXTS.map((text) => text.padEnd(length, "x"));
  }
  if (type === "array" && isSchema(items)) for (const item of spoilt(items)) yield [item];
  if (type === "object") {
    const base = (): Schema => {
      const sample = sampleOf(schema);
      return isSchema(sample) ? sample : {};
    };
    for (const [name, one] of propertiesOf(schema))
      for (const value of spoilt(one)) yield { ...base(), [name]: value };
    const open = isSchema(patternProperties) ? schemasOf(Object.values(patternProperties)) : [];
    for (const one of open) {
      yield { ...base(), [BAD_NAME]: sampleOf(one) };
      for (const value of spoilt(one)) yield { ...base(), name: value };
    }
    if (additionalProperties === true) {
      yield { ...base(), [BAD_NAME]: 1 };
      for (const text of BAD_TEXTS) yield { ...base(), name: [{ name: text }] };
    }
  }
  // A schema that says nothing takes anything.
  if (type === undefined && choices.length === 0 && schema.const === undefined && schema.enum === undefined)
    yield* [{ [BAD_NAME]: 1 }, { name: BAD_TEXTS[0] }, BAD_TEXTS[1]];
}

function* callsOf({ method, path, parameters, body }: Operation): Generator<Call> {
  const named = (name: string, text: string): string => path.replace(`{${name}}`, text);
  const at = path.replaceAll(/\{[^}]+\}/g, "999999999");
  const json = body === null ? {} : { json: sampleOf(body) };
  if (body !== null) for (const value of spoilt(body)) yield { method, path: at, json: value };
  for (const { name, in: place, schema } of parameters) {
    if (place === "path") {
      yield { method, path: named(name, "a%00b").replaceAll(/\{[^}]+\}/g, "999999999"), ...json };
      continue;
    }
    const values = [...spoilt(schema)]
      .flat()
      .filter((value) => typeof value === "string" && value.isWellFormed());
    const others = parameters
      .filter(
        (other) =>
          other.in === "query" && other.name !== name && "required" in other && other.required === true,
      )
      .map((other) => `&${other.name}=${encodeURIComponent(String(sampleOf(other.schema)))}`);
    for (const value of values)
      yield { method, path: `${at}?${name}=${encodeURIComponent(String(value))}${others.join("")}`, ...json };
  }
}

/** What is wrong with the answer to a call; null for what the caller is told is its fault, or is none. */
async function faultOf({ method, path, json }: Call): Promise<string | null> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    redirect: "manual",
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    headers: {
      cookie,
      origin: server.url,
      ...(json !== undefined && { "content-type": "application/json" }),
    },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  await response.body?.cancel();
  if (response.status < 500) return null;
  return `${response.status} ${method} ${path} ${JSON.stringify(json) ?? ""}`;
}

test("no text and no time that Postgres cannot hold makes an operation of the API fail", async () => {
  const calls = (await readOperations()).flatMap((operation) => [...callsOf(operation)]);
  expect(calls.length).toBeGreaterThan(200);
  const faults: string[] = [];
  const next = calls.values();
  await Promise.all(
    Array.from({ length: CALLS_AT_A_TIME }, async () => {
      for (const call of next) {
        const fault = await faultOf(call);
        if (fault !== null) faults.push(fault);
      }
    }),
  );
  expect(faults).toEqual([]);
});
