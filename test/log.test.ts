import { expect, test } from "bun:test";
import { createLogger, plainLineWriter } from "../src/log.ts";

function logTo(lines: Record<string, unknown>[]) {
  return createLogger("info", { write: (line) => lines.push(JSON.parse(line)) });
}

test("secrets are left out of lines by the name of their field, at any depth that is searched", () => {
  const lines: Record<string, unknown>[] = [];
  const secret = "hunter2";
  const record = {
    password: secret,
    nested: { token: secret, deeper: { cookie: secret } },
    tokenId: 17,
    totp: null,
  };
  logTo(lines).info(record, "hello");
  expect(JSON.stringify(lines)).not.toContain(secret);
  expect(lines[0]).toMatchObject({
    msg: "hello",
    password: "[redacted]",
    nested: { token: "[redacted]", deeper: { cookie: "[redacted]" } },
    tokenId: 17,
    totp: null,
  });
  expect(record.password).toBe(secret);
});

test("a record that contains itself does not hang the log", () => {
  const lines: Record<string, unknown>[] = [];
  const record: Record<string, unknown> = { a: 1 };
  record.self = record;
  logTo(lines).info(record, "round");
  expect(lines[0]).toMatchObject({ msg: "round", a: 1 });
});

test("lines reach standard output in order, also right before the end of the process", async () => {
  const script = `
    import { createLogger } from ${JSON.stringify(import.meta.resolve("../src/log.ts"))};
    const log = createLogger("info");
    for (let i = 0; i < 5000; i++) log.info({ i }, "line");
    log.error({ i: 5000 }, "line");
    log.info({ i: 5001 }, "line");
    log.flush();
    process.exit(0);
  `;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
  const text = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  const numbers = text
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line).i);
  expect(numbers).toEqual(Array.from({ length: 5002 }, (_, i) => i));
});

test("a plain line is the line the logger would have written, and obeys its level", () => {
  const lines: Record<string, unknown>[] = [];
  const log = logTo(lines);
  const record = {
    route: '/a"b\\c\n',
    status: 200,
    code: undefined,
    userId: null,
    nested: { a: [1, "ü😀"] },
  };
  log.info(record, "request");
  plainLineWriter(log, "request")(record);
  const [own, plain] = lines.map(({ time: _time, ...rest }) => rest);
  expect(plain).toEqual(own);
  expect(Object.keys(plain ?? {})).toEqual(Object.keys(own ?? {}));
  expect(lines[1]?.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  log.level = "warn";
  plainLineWriter(log, "request")(record);
  expect(lines).toHaveLength(2);
});

test("lines of any length and script reach standard output whole and in order", async () => {
  const script = `
    import { createLogger, plainLineWriter } from ${JSON.stringify(import.meta.resolve("../src/log.ts"))};
    const log = createLogger("info");
    const write = plainLineWriter(log, "plain");
    const text = (i) => "ü😀x".repeat(i % 7 === 0 ? 50_000 : i);
    for (let i = 0; i < 60; i++) i % 2 === 0 ? write({ i, text: text(i) }) : log.info({ i, text: text(i) }, "own");`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
  const lines = (await new Response(child.stdout).text()).trimEnd().split("\n");
  const read = lines.map((line): { i: number; text: string } => JSON.parse(line));
  expect(read.map(({ i }) => i)).toEqual(Array.from({ length: 60 }, (_, i) => i));
  for (const { i, text } of read) expect(text).toBe("ü😀x".repeat(i % 7 === 0 ? 50_000 : i));
});
