import { expect, test } from "bun:test";
import { observablesIn, textsOf } from "../../../src/domains/cases/observables.ts";

const namesIn = (value: unknown) =>
  observablesIn(textsOf(value))
    .map(({ type, value: name }) => `${type} ${name}`)
    .toSorted();

test("evidence names domains wherever they stand, and names of attributes, files and classes are none", () => {
  expect(
    namesIn({
      message: "lookup of CDN.Evil.example by java.lang.String in C:\\Temp\\reg.exe, see https://a.intern/x",
      attrs: { "gen_ai.agent.name": "helper", "server.address": "198.51.100.4", to: "ana@shop.example" },
    }),
  ).toEqual([
    "domain a.intern",
    "domain cdn.evil.example",
    "domain shop.example",
    "email ana@shop.example",
    "ip 198.51.100.4",
  ]);
});

test("what its name calls an id is no hash, and a hash is one under any other name", () => {
  const digits = "0af7651916cd43dd8448eb211c80319c";
  expect(namesIn({ traceId: digits, attrs: { "session.id": [digits], message_id: digits } })).toEqual([]);
  expect(namesIn({ traceId: "", attrs: { md5: digits, "server.id": "db.shop.example" } })).toEqual([
    "domain db.shop.example",
    `hash ${digits}`,
  ]);
});
