import { expect, test } from "bun:test";
import {
  ALL_TIME,
  allOf,
  call,
  columnOf,
  compileKql,
  EVERY_TABLE,
  emit,
  type FileSource,
  filter,
  guardPlan,
  INTERACTIVE_BUDGET,
  literal,
  scan,
} from "../../query/index.ts";

const SCOPE = { organizationId: 7, timeRange: ALL_TIME, maxRows: 10, budget: INTERACTIVE_BUDGET };
const DIRECTORY: FileSource = {
  kind: "directory",
  pattern: "/var/lib/obs/archive/{7/a.parquet,7/b.parquet}",
  structure: "organization_id UInt32, ts DateTime64(9, 'UTC')",
};

test("every scan of a plan reads the files, of the organisation alone, and no path is in the statement", () => {
  const compiled = compileKql(
    "logs | join kind=inner (logs | where level == 'error' | project traceId) on traceId | union (logs | where host == 'a')",
    { nowNs: 0n, discovered: [] },
  );
  if (!compiled.ok) throw new Error("the query does not compile");
  const { sql, parameters, settings } = emit(
    guardPlan(compiled.query.relation, { ...SCOPE, files: DIRECTORY }),
  );
  const reads = sql.match(/FROM file\(\{p\d+:String\}, 'Parquet', \{p\d+:String\}\)/g) ?? [];
  expect(reads).toHaveLength(3);
  expect(sql).not.toMatch(/FROM logs\b/);
  expect(sql.match(/organization_id = \{p\d+:UInt32\}/g)).toHaveLength(3);
  expect(sql).not.toContain("/var/lib");
  expect(Object.values(parameters)).toContain(DIRECTORY.pattern);
  expect(settings.readonly).toBe("2");
});

test("without files the table is read, read-only in every respect", () => {
  const { sql, settings } = emit(guardPlan(scan("logs"), SCOPE));
  expect(sql).toContain("FROM logs");
  expect(settings.readonly).toBe("1");
});

test("a bucket is named by its collection, which can be nothing but a name", () => {
  const logs = scan("logs");
  const plan = filter(logs, allOf([call("equal", columnOf(logs, "host"), literal("string", "a"))]));
  const files = { ...DIRECTORY, kind: "bucket", collection: "obs_archive_0011" } as const;
  const { sql } = emit(guardPlan(plan, { ...SCOPE, files }));
  expect(sql).toMatch(
    /FROM s3\(obs_archive_0011, filename = \{p\d+:String\}, format = 'Parquet', structure = /,
  );
  for (const collection of ["", "a b", "a)--", "A", "1a"])
    expect(() => emit(guardPlan(plan, { ...SCOPE, files: { ...files, collection } }))).toThrow(RangeError);
});

test("every scan of a plan reads the table and the files, and no path is in the statement", () => {
  const compiled = compileKql("logs | where host in ((logs | project host)) | count", {
    nowNs: 0n,
    discovered: [],
  });
  if (!compiled.ok) throw new Error("the query does not compile");
  const moving: FileSource = { ...DIRECTORY, pattern: "/var/lib/obs/archive/7/b.parquet" };
  const archived = { files: DIRECTORY, moving };
  const { sql, parameters, settings } = emit(guardPlan(compiled.query.relation, { ...SCOPE, archived }));
  expect(sql.match(/FROM logs\b/g)).toHaveLength(2);
  expect(sql.match(/FROM file\(\{p\d+:String\}, 'Parquet', \{p\d+:String\}\)/g)).toHaveLength(4);
  expect(sql.match(/organization_id = \{p\d+:UInt32\}/g)).toHaveLength(6);
  expect(sql).not.toContain("/var/lib");
  expect(Object.values(parameters)).toContain(moving.pattern);
  expect(settings.readonly).toBe("2");
  const settled = emit(
    guardPlan(compiled.query.relation, { ...SCOPE, archived: { ...archived, moving: null } }),
  );
  expect(settled.sql).not.toContain("NOT IN");
});

test("only scans of logs read archived files: nothing else lies there", () => {
  const tables = EVERY_TABLE;
  const text = "checks | join kind=inner (logs | extend monitorId = tolong(monitor)) on monitorId | count";
  const compiled = compileKql(text, { nowNs: 0n, discovered: [], tables });
  if (!compiled.ok) throw new Error("the query does not compile");
  const archived = { files: DIRECTORY, moving: null };
  const both = emit(guardPlan(compiled.query.relation, { ...SCOPE, archived })).sql;
  expect(both.match(/FROM monitor_checks\b/g)).toHaveLength(1);
  expect(both.match(/FROM file\(/g)).toHaveLength(1);
  const filesAlone = emit(guardPlan(compiled.query.relation, { ...SCOPE, files: DIRECTORY })).sql;
  expect(filesAlone.match(/FROM monitor_checks\b/g)).toHaveLength(1);
  expect(filesAlone).not.toMatch(/FROM logs\b/);
});
