/** Fingerprints of secrets tell that one has changed, and nothing else: not whose it is, nor that two are the same. */
import { expect, test } from "bun:test";
import type { ConfigKind } from "../../../src/configuration/config-kind.ts";
import { Fingerprints } from "../../../src/domains/configuration/fields.ts";

const KEY = new Uint8Array(32).fill(7);
const kind = (name: string): Pick<ConfigKind, "kind" | "secrets"> => ({
  kind: name,
  secrets: ["token", "key"],
});

function fingerprint(of: {
  kind?: string;
  organizationId?: number;
  field?: string;
  value?: string;
  key?: Uint8Array;
}) {
  const { field = "token", value = "s3cret" } = of;
  const prints = new Fingerprints(of.key ?? KEY);
  const sealed = prints.sealed(kind(of.kind ?? "monitors"), of.organizationId ?? 1, {
    [field]: value,
    name: "n",
  });
  expect(JSON.stringify(sealed)).not.toContain("s3cret");
  expect(sealed).toMatchObject({ name: "n" });
  return JSON.stringify(sealed[field]);
}

test("a secret has one fingerprint, and another one in each organisation, kind, field and server", () => {
  const own = fingerprint({});
  expect(fingerprint({})).toBe(own);
  const others = [
    fingerprint({ value: "another" }),
    fingerprint({ organizationId: 2 }),
    fingerprint({ kind: "channels" }),
    fingerprint({ field: "key" }),
    fingerprint({ key: new Uint8Array(32) }),
  ];
  expect(new Set([own, ...others]).size).toBe(6);
});

test("a secret that is not there has none", () => {
  expect(new Fingerprints(KEY).sealed(kind("monitors"), 1, { token: null })).toEqual({ token: null });
});
