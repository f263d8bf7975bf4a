import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../../harness/eventually.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type CliUser, cliResult, spawnCli, spawnOnTerminal } from "./cli-process.ts";
import { startTailPeer, type TailPeer } from "./tail-peer.ts";

let directory: TemporaryDirectory;

beforeAll(() => {
  directory = temporaryDirectory();
});
afterAll(() => directory[Symbol.dispose]());

function userOf(peer: TailPeer, env: Record<string, string> = {}): CliUser {
  return {
    directory: directory.path,
    env: { OBS_URL: peer.url, OBS_TOKEN: `obs_${"a".repeat(43)}`, ...env },
  };
}

function streams(peer: TailPeer, count: number): Promise<true> {
  return eventually(`${count} streams`, () => peer.resumedFrom.length >= count);
}

/** What a person is told before there is an entry. */
const WAITS = "obs: connected; entries are shown as they come in, Ctrl-C ends it\r\n";
const TIME = "2026-01-02T03:04:05.678Z";
const INTERRUPT = "\u0003";

describe("on a terminal", () => {
  test("each entry is one line with the colour of its level, and nothing in it is obeyed", async () => {
    await using peer = await startTailPeer();
    const terminal = spawnOnTerminal(userOf(peer), ["tail"]);
    await streams(peer, 1);
    peer.append("two\nlines \u001b[2J\u009b1m");
    await eventually("a line", () => terminal.screen().includes("n=1"));
    terminal.type(INTERRUPT);
    expect(await terminal.exited).toBe(130);
    expect(terminal.screen().replace("^C", "")).toBe(
      `${WAITS}\u001b[2m${TIME}\u001b[0m \u001b[32minfo \u001b[0m peer two\\nlines \\x1b[2J\\x9b1m \u001b[2mn=1\u001b[0m\r\n`,
    );
  });

  test("--json is escaped too, and NO_COLOR is respected", async () => {
    await using peer = await startTailPeer();
    const json = spawnOnTerminal(userOf(peer), ["tail", "--json"], 1000);
    const plain = spawnOnTerminal(userOf(peer, { NO_COLOR: "1" }), ["tail"]);
    await streams(peer, 2);
    peer.append("\u009b1m");
    await eventually(
      "a line on both",
      () => json.screen().includes('"n":1') && plain.screen().includes("n=1"),
    );
    for (const { type } of [json, plain]) type(INTERRUPT);
    expect(await Promise.all([json.exited, plain.exited])).toEqual([130, 130]);
    expect(json.screen()).toContain('"message":"\\u009b1m"');
    expect(plain.screen()).toStartWith(`${WAITS}${TIME} info  peer \\x9b1m n=1\r\n`);
  });

  test("an interrupt ends it at once, also while the server is away", async () => {
    const peer = await startTailPeer();
    const terminal = spawnOnTerminal(userOf(peer), ["tail"]);
    await streams(peer, 1);
    await peer[Symbol.asyncDispose]();
    await eventually("a word about it", () => terminal.screen().includes("; reconnecting"));
    terminal.type(INTERRUPT);
    expect(await terminal.exited).toBe(130);
  });
});

describe("in a pipe", () => {
  test("a reader that has enough ends it quietly", async () => {
    await using peer = await startTailPeer();
    const child = spawnCli(userOf(peer), ["tail", "--service", "web", "timed out"]);
    await streams(peer, 1);
    peer.append("first");
    const reader = child.stdout.getReader();
    const { value } = await reader.read();
    expect(new TextDecoder().decode(value)).toBe(`${TIME} info  peer first n=1\n`);
    await reader.cancel();
    const more = setInterval(() => peer.append("more"), 20);
    const [exitCode, stderr] = await Promise.all([child.exited, new Response(child.stderr).text()]);
    clearInterval(more);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(peer.sessions).toEqual([{ q: "timed out", service: "web" }]);
  });

  test("breaks, what was left out and remarks go to standard error, and every line to standard output once", async () => {
    await using peer = await startTailPeer();
    const child = spawnCli(userOf(peer), ["tail", "--color", "always"]);
    await streams(peer, 1);
    peer.append("a");
    peer.fault = () => ({ overlap: 1, preface: 'event: dropped\ndata: {"count":3}\n\n' });
    const reader = child.stdout.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toContain("\u001b[32minfo");
    peer.append("b");
    await reader.read();
    peer.disconnect();
    await streams(peer, 2);
    peer.append("c");
    expect(new TextDecoder().decode((await reader.read()).value)).toContain(" peer c ");
    child.kill("SIGTERM");
    const stderr = await new Response(child.stderr).text();
    expect(await child.exited).toBe(143);
    expect(stderr).toMatch(
      /^obs: [^\n]+; reconnecting\nobs: the tail has resumed after [\d.]+ s\nobs: 3 entries were left out: [^\n]+\n$/,
    );
  });

  test("a refused query is shown with a caret and ends it with 1", async () => {
    await using peer = await startTailPeer();
    const field = { path: "/query", code: "custom", message: "Unknown.", line: 1, column: 1, text: "wher" };
    peer.refuseSession = () => ({ status: 400, code: "KQL_INVALID", fields: [field] });
    expect(await cliResult(spawnCli(userOf(peer), ["tail", "--query", "wher x"]))).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: "obs: KQL_INVALID: Unknown.\n  1 | wher x\n    | ^^^^\n",
    });
  });
});
