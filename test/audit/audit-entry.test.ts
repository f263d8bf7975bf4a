import { describe, expect, test } from "bun:test";
import { type AuditEntry, auditRecord } from "../../src/audit/audit-entry.ts";

const BY = {
  actor: { userId: 5, tokenId: null, email: "ana@example.com" },
  origin: { ip: "192.0.2.7", userAgent: "suite/1.0" },
  atMs: 0,
};

function metaOf(entry: AuditEntry) {
  return auditRecord("UPDATE_THING", entry, BY).meta;
}

describe("the record of a change", () => {
  test("names the fields that changed, with what they were and are", () => {
    const before = { name: "a", tags: ["x"], url: "u", updatedAt: 1, nested: { b: 1, a: 2 } };
    const after = {
      name: "b",
      tags: ["x", "y"],
      url: "u",
      updatedAt: 2,
      nested: { a: 2, b: 1 },
      added: true,
    };
    expect(metaOf({ resource: "thing:1", before, after })).toEqual({
      changedFields: ["name", "tags", "added"],
      diff: {
        name: { from: "a", to: "b" },
        tags: { from: ["x"], to: ["x", "y"] },
        added: { from: null, to: true },
      },
      ip: "192.0.2.7",
      ua: "suite/1.0",
    });
  });

  test("of something new tells every field, of something gone keeps a snapshot", () => {
    const fields = { name: "a", url: null };
    expect(metaOf({ resource: "thing:1", after: fields })).toMatchObject({
      changedFields: ["name", "url"],
      diff: { name: { from: null, to: "a" }, url: { from: null, to: null } },
    });
    const gone = metaOf({ resource: "thing:1", before: fields, after: null });
    expect(gone).toMatchObject({ changedFields: [], diff: {}, snapshot: fields });
  });

  test("says of a sensitive field only that it changed, also when the thing is gone", () => {
    const before = { alertUrl: "https://hook/secret-1", headers: { authorization: "secret-2" }, name: "a" };
    const after = { alertUrl: "https://hook/secret-3", headers: { authorization: "secret-4" }, name: "a" };
    const sensitive = ["alertUrl", "headers"];
    const made = metaOf({ resource: "thing:1", after, sensitive });
    const changed = metaOf({ resource: "thing:1", before, after, sensitive });
    const gone = metaOf({ resource: "thing:1", before, after: null, sensitive });
    expect(changed).toMatchObject({
      changedFields: sensitive,
      diff: { alertUrl: { redacted: true }, headers: { redacted: true } },
    });
    expect(gone).toMatchObject({
      snapshot: { alertUrl: { redacted: true }, headers: { redacted: true }, name: "a" },
    });
    expect(JSON.stringify([made, changed, gone])).not.toContain("secret-");
  });

  test("stays small: long texts are cut, large structures left out", () => {
    const after = { text: "x".repeat(5_000), list: Array.from({ length: 5_000 }, () => 1) };
    const { diff } = metaOf({ resource: "thing:1", after });
    expect(diff).toEqual({
      text: { from: null, to: `${"x".repeat(1_024)}…` },
      list: { from: null, to: { omitted: true, chars: 10_001 } },
    });
    const by = { ...BY, origin: { ip: "192.0.2.7", userAgent: "u".repeat(5_000) } };
    expect(auditRecord("X", { resource: "thing:1" }, by).meta.ua).toBe("u".repeat(512));
  });

  test("facts cannot stand in for where a call came from", () => {
    const facts = { ip: "203.0.113.1", ua: "else", changedFields: ["none"], reason: "asked to" };
    expect(metaOf({ resource: "thing:1", after: {}, facts })).toEqual({
      reason: "asked to",
      changedFields: [],
      diff: {},
      ip: "192.0.2.7",
      ua: "suite/1.0",
    });
  });
});
