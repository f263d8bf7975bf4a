import { expect, test } from "bun:test";
import { requestKeys, requestSpan, requestSpans } from "../../../ingest/dedupe/request-keys.ts";

test("each request of a record is found with its own rows, whatever other keys lie between", () => {
  const [one, two] = ["one", "two"].map((name) => requestKeys(7, "token:1", name, new Uint8Array(3)));
  if (one === undefined || two === undefined) throw new Error("no keys");
  const event = Uint32Array.of(7, 1, 2, 3);
  const parts = [event, one.identity, one.content, requestSpan(0, 2), event, event];
  const keys = [...parts, two.identity, two.content, requestSpan(2, 5), event].flatMap((part) => [...part]);
  expect([...requestSpans(Uint32Array.from(keys))]).toEqual([
    { identity: one.identity, firstRow: 0, endRow: 2 },
    { identity: two.identity, firstRow: 2, endRow: 7 },
  ]);
});
