import { describe, expect, test } from "bun:test";
import {
  type Dialect,
  dialectOfBody,
  dialectOfHeaders,
  type Platform,
} from "../../../../../src/domains/logs/receive/platforms/dialect.ts";

describe("a request is known by its headers", () => {
  test.each<[Record<string, string>, Dialect | null]>([
    [{ "X-Amz-Firehose-Request-Id": "1", "content-type": "application/json" }, "delivery"],
    [{ "X-Amz-Firehose-Protocol-Version": "1.0" }, "delivery"],
    [{ "content-type": "application/logplex-1" }, "frames"],
    [{ "content-type": "Application/X-Logplex-1; charset=utf-8" }, "frames"],
    [{ "Logplex-Frame-Id": "09C5" }, "frames"],
    [{ "x-vercel-signature": "00" }, "deployment-drain"],
    [{ "content-type": "application/json" }, null],
    [{}, null],
  ])("%j: %p", (headers, dialect) => {
    expect(dialectOfHeaders(new Headers(headers))).toBe(dialect);
  });
});

describe("without them it is known by how its body begins, else by its path", () => {
  const paths: readonly Platform[] = ["platform-a", "platform-b", "stream-a"];
  const frames: readonly Dialect[] = ["frames", "frames", "frames"];
  const delivery: readonly Dialect[] = ["delivery", "delivery", "delivery"];
  test.each<[string, readonly Dialect[]]>([
    ["74 <174>1 2012-07-22T00:06:26+00:00 host app web.1 - hi", frames],
    ['{"requestId":"r","timestamp":1,"records":[{"data":"YQ=="}]}', delivery],
    ['{"records": [ { "data" : "YQ==" } ], "requestId":"r"}', delivery],
    ['{"requestId":"r","records":[]}', delivery],
    ['{"records":[{"time":"2026-11-21T10:00:00Z"}]}', ["deployment-drain", "records", "records"]],
    ['[{"id":"1"}]', ["deployment-drain", "records", "records"]],
    ['{"id":"1"}\n{"id":"2"}', ["deployment-drain", "records", "records"]],
    ["plain text", ["deployment-drain", "frames", "records"]],
    ["", ["deployment-drain", "frames", "records"]],
  ])("%p", (body, dialects) => {
    expect(paths.map((path) => dialectOfBody(Buffer.from(body), path))).toEqual([...dialects]);
  });
});
