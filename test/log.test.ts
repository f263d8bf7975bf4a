import { expect, test } from "bun:test";
import { createLogger } from "../src/log.ts";

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
