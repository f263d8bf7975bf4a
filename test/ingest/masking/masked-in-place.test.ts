/** What masks leave of small requests, whose texts are rewritten where they are. */
import { expect, test } from "bun:test";
import { CommittedBlock } from "../../../ingest/committed-block.ts";
import { NativeFormat } from "../../../ingest/decode/native.ts";
import { EntryRules } from "../../../ingest/entry-rules.ts";
import { LogBatch } from "../../../ingest/log-batch.ts";
import { entryTexts } from "../../../ingest/masking/entry-texts.ts";
import type { Mask } from "../../../ingest/masking/mask.ts";
import { RequestCopy } from "../../../ingest/request-columns.ts";
import { asRuled } from "../../../ingest/request-entries.ts";
import { takeBlock } from "../../../ingest/take-block.ts";

/** The entries of a body as masks leave them, one rule for each mask. */
function stored(masks: readonly Mask[], json: string) {
  const body = new TextEncoder().encode(json);
  const rules = new EntryRules({
    rules: masks.map((mask) => ({
      action: { kind: "mask", ...mask },
      rowsOf: () => ({ candidates: null, isFor: () => true }),
    })),
    random: Math.random,
    applied: () => undefined,
  });
  const batch = new LogBatch();
  batch.beginRequest(1, 0);
  const decode = (into: LogBatch, skip: ReadonlySet<number>) => new NativeFormat().decode(body, into, skip);
  const request = { organizationId: 1, format: "native", bytes: body.length, keys: null, decode };
  asRuled(request, rules, new RequestCopy()).append(batch, new Set());
  const entries = new CommittedBlock(takeBlock(batch));
  return Array.from({ length: entries.rows }, (_, row) => {
    const { message, service, attributes } = entryTexts(entries, row);
    return { message, service, attributes: attributes.map(({ key, text, isJson }) => [key, text, isJson]) };
  });
}

const named: Mask = { fields: ["user"], patterns: [] };
const mails: Mask = { fields: [], patterns: ["email"] };
const cards: Mask = { fields: [], patterns: ["card"] };

test("a number that is hidden is a text from then on, whether by its name alone or beside patterns", () => {
  const body = JSON.stringify([{ message: "a ann@example.org", attrs: { user: 42, n: 7 } }]);
  const attributes = [
    ["user", "[masked]", false],
    ["n", "7", true],
  ];
  expect(stored([named], body)).toEqual([{ message: "a ann@example.org", service: "", attributes }]);
  const [both] = stored([named, mails], body);
  expect(both?.attributes).toEqual(attributes);
  expect(both?.message).not.toContain("ann@example.org");
});

test("patterns are looked for though another rule asks for names only", () => {
  const body = JSON.stringify([
    { message: "a ann@example.org", attrs: { user: "ben", to: "cy@example.org" } },
  ]);
  for (const masks of [
    [named, mails],
    [mails, named],
  ]) {
    const [entry] = stored(masks, body);
    expect(JSON.stringify(entry)).not.toMatch(/@example|ben/);
  }
});

test("a number in which a pattern is found is a text from then on", () => {
  const [entry] = stored(
    [cards],
    JSON.stringify([{ message: "a", attrs: { paid: 4111111111111111, n: 7 } }]),
  );
  expect(entry?.attributes).toEqual([
    ["paid", "[card]", false],
    ["n", "7", true],
  ]);
});

test("what JSON in an attribute spells with escapes is masked as well", () => {
  const [entry] = stored([mails], '[{"message":"a","attrs":{"to":["ann\\u0040example.org"],"n":7}}]');
  const [to] = entry?.attributes ?? [];
  expect(JSON.stringify(JSON.parse(String(to?.[1])))).not.toContain("ann@example.org");
});

test("secrets are hidden in messages and attributes as they are in any text, whatever form they have", () => {
  const passwords: Mask = { fields: [], patterns: ["password"] };
  const [entry] = stored(
    [passwords],
    JSON.stringify([
      {
        message: '{"password":["sec1"],"n":1}',
        attrs: {
          "X-Api-Key": "sec2",
          "headers.Api-Key": "sec3",
          url: "amqp://u:p@sec4@h",
          line: "pwd => sec5",
        },
      },
    ]),
  );
  expect(entry).toEqual({
    message: '{"password":[password],"n":1}',
    service: "",
    attributes: [
      ["X-Api-Key", "[masked]", false],
      ["headers.Api-Key", "[masked]", false],
      ["url", "amqp://u:[password]@h", false],
      ["line", "pwd => [password]", false],
    ],
  });
});
