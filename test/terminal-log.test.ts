import { expect, test } from "bun:test";
import { terminalLine } from "../src/terminal-log.ts";
import { eventually } from "./harness/eventually.ts";

const HEAD = '"time":"2026-03-01T11:59:58.734Z","pid":1,"hostname":"h"';

test("a line for a person has the time, the level, the message and the fields, and commands no terminal", () => {
  const json = `{"level":40,${HEAD},"path":"a \u009b b","port":8080,"msg":"slow \\u001b[2J"}`;
  expect(terminalLine(json, { color: false })).toBe(
    '11:59:58 warn  slow \\u001b[2J path="a \ufffd b" port=8080\n',
  );
  expect(terminalLine(`{"level":30,${HEAD},"msg":"x"}`, { color: true })).toContain(
    "\u001b[32minfo \u001b[0m x",
  );
});

test("an error keeps its message and its stack", () => {
  const err = {
    type: "Error",
    message: "it broke",
    stack: "Error: it broke\n    at one (file:1)\n    at two",
  };
  const line = terminalLine(`{"level":50,${HEAD},"err":${JSON.stringify(err)},"msg":"failed"}`, {
    color: false,
  });
  expect(line).toBe('11:59:58 error failed err="it broke"\n    at one (file:1)\n    at two\n');
});

test("requests are shown when they fail", () => {
  const request = (status: number) => `{"level":30,${HEAD},"status":${status},"msg":"request"}`;
  expect(terminalLine(request(200), { color: false })).toBeNull();
  expect(terminalLine(request(404), { color: false })).toContain("request status=404");
});

test("a terminal gets lines for a person, anything else JSON", async () => {
  const script = `
    import { createLogger } from ${JSON.stringify(import.meta.resolve("../src/log.ts"))};
    const log = createLogger("info");
    log.warn({ port: 1 }, "hello");
    log.flush();
  `;
  let screen = "";
  const child = Bun.spawn([process.execPath, "-e", script], {
    env: { PATH: process.env.PATH ?? "", TERM: "xterm", NO_COLOR: "1" },
    terminal: {
      data: (_, bytes) => {
        screen += new TextDecoder().decode(bytes);
      },
    },
  });
  expect(await child.exited).toBe(0);
  await eventually("the line", () => screen.includes("\n"));
  expect(screen).toMatch(/^\d\d:\d\d:\d\d warn {2}hello port=1\r\n$/);
});
