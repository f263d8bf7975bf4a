import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../../harness/eventually.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type CliResult, type CliUser, runCli, spawnOnTerminal } from "./cli-process.ts";

const STATS = { rowsRead: 1_234_567, bytesRead: 5_000_000, elapsedMs: 34 };
const ANSWER = {
  columns: [
    { name: "service", type: "string" },
    { name: "count_", type: "long" },
    { name: "message", type: "string" },
  ],
  rows: '[["web",9007199254740993,"\\u001b[31m日本語, said \\"so\\""],[null,2,""]]',
};

let directory: TemporaryDirectory;
let asked: { body: unknown; accept: string | null }[];

beforeAll(() => {
  directory = temporaryDirectory();
});
afterAll(() => directory[Symbol.dispose]());

function answerText({ columns, rows, ...more }: { columns: readonly object[]; rows: string }): string {
  const rest = JSON.stringify({ truncated: false, stats: STATS, ...more });
  return `{"columns":${JSON.stringify(columns)},"rows":${rows},${rest.slice(1)}`;
}

/** A server that gives one answer to every query, and a user of it. */
function serveAnswer(response: () => Response): CliUser & Disposable {
  asked = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      asked.push({ body: await request.json(), accept: request.headers.get("accept") });
      return response();
    },
  });
  return {
    directory: directory.path,
    env: { OBS_URL: server.url.origin, OBS_TOKEN: `obs_${"a".repeat(43)}` },
    [Symbol.dispose]: () => void server.stop(true),
  };
}

function json(text: string, status = 200): () => Response {
  return () => new Response(text, { status, headers: { "content-type": "application/json" } });
}

async function expectOutput(user: CliUser, args: readonly string[], stdout: string): Promise<CliResult> {
  const result = await runCli(user, ["query", ...args], "from stdin");
  expect({ exitCode: result.exitCode, stdout: result.stdout }).toEqual({ exitCode: 0, stdout });
  return result;
}

describe("an answer is written", () => {
  test("as a table, with the figures on standard error", async () => {
    using user = serveAnswer(json(answerText(ANSWER)));
    const { stderr } = await expectOutput(
      user,
      ["logs | take 2"],
      'service            count_  message\nweb      9007199254740993  \\x1b[31m日本語, said "so"\n                        2\n',
    );
    expect(stderr).toBe("2 rows in 0.034 s; read 1,234,567 rows, 4.8 MiB\n");
    expect(asked).toEqual([{ body: { query: "logs | take 2" }, accept: "application/json" }]);
  });

  test("as CSV", async () => {
    using user = serveAnswer(json(answerText(ANSWER)));
    const csv = 'service,count_,message\r\nweb,9007199254740993,"\u001b[31m日本語, said ""so"""\r\n,2,""\r\n';
    await expectOutput(user, ["logs", "--csv"], csv);
  });

  test("as one JSON object a row, with 64-bit numbers as they are", async () => {
    using user = serveAnswer(json(answerText(ANSWER)));
    const lines = [
      '{"service":"web","count_":9007199254740993,"message":"\\u001b[31m日本語, said \\"so\\""}',
      '{"service":null,"count_":2,"message":""}',
    ];
    await expectOutput(user, ["logs", "--json"], `${lines.join("\n")}\n`);
  });

  test("as a chart, if asked", async () => {
    const columns = [
      { name: "service", type: "string" },
      { name: "n", type: "long" },
    ];
    const render = { chart: "piechart", properties: {} };
    using user = serveAnswer(json(answerText({ columns, rows: '[["web",30],["日本",10]]', ...{ render } })));
    const bars = [`web  30  75.0% ${"█".repeat(65)}`, `日本 10  25.0% ${"█".repeat(21)}▋`];
    await expectOutput(user, ["logs", "--chart"], `${bars.join("\n")}\n`);
    await expectOutput(user, ["logs"], "service   n\nweb      30\n日本     10\n");
  });

  test("when it has no rows, or no columns", async () => {
    using none = serveAnswer(json(answerText({ ...ANSWER, rows: "[]" })));
    const { stderr } = await expectOutput(none, ["logs"], "service  count_  message\n");
    expect(stderr).toStartWith("0 rows in ");
    await expectOutput(none, ["logs", "--csv"], "service,count_,message\r\n");
    await expectOutput(none, ["logs", "--json"], "");
    using bare = serveAnswer(json(answerText({ columns: [], rows: "[[],[]]" })));
    await expectOutput(bare, ["logs"], "");
    await expectOutput(bare, ["logs", "--csv"], "");
    await expectOutput(bare, ["logs", "--json"], "{}\n{}\n");
  });

  test("and told when it is cut off", async () => {
    using user = serveAnswer(json(answerText({ ...ANSWER, ...{ truncated: true } })));
    expect((await runCli(user, ["query", "logs"])).stderr).toStartWith("2 rows (the answer was cut off");
  });
});

describe("the query", () => {
  test("comes from standard input where no argument gives it, with every character", async () => {
    using user = serveAnswer(json(answerText(ANSWER)));
    const text = "logs\r\n| where message has '日本'\n";
    for (const args of [["query"], ["query", "-"]]) expect((await runCli(user, args, text)).exitCode).toBe(0);
    expect(asked.map(({ body }) => body)).toEqual([{ query: text }, { query: text }]);
  });

  test("is sent with its time", async () => {
    using user = serveAnswer(json(answerText(ANSWER)));
    const from = "2026-01-02T03:04:05.123456789Z";
    await runCli(user, ["query", "logs", "--from", from, "--to", "2026-02-03"]);
    await runCli(user, ["query", "logs", "--since", "1h"]);
    expect(asked[0]?.body).toEqual({ query: "logs", from, to: "2026-02-03T00:00:00.000Z" });
    expect(asked[1]?.body).toEqual({ query: "logs", from: expect.stringMatching(/^\d{4}-.*Z$/) });
  });

  test("that means nothing ends with 2 before anything is sent", async () => {
    using user = serveAnswer(json(answerText(ANSWER)));
    const commands = [
      ["logs", "--since", "soon"],
      ["logs", "--since", "1h", "--from", "2h"],
      ["logs", "--csv", "--json"],
      ["logs", "--chart", "--csv"],
      ["-"],
    ];
    for (const args of commands) expect((await runCli(user, ["query", ...args], " \n")).exitCode).toBe(2);
    expect((await runCli(user, ["query"], "x".repeat(2_000_000))).exitCode).toBe(2);
    expect(asked).toEqual([]);
  });

  test("that is wrong is shown with a caret, ends with 1, and leaves standard output empty", async () => {
    const field = {
      path: "/query",
      code: "custom",
      message: "Unknown operator `wher`.",
      line: 1,
      column: 8,
      start: 7,
      end: 11,
      text: "wher",
      suggestion: "where",
    };
    const body = JSON.stringify({ error: "The query is not valid.", code: "KQL_INVALID", fields: [field] });
    using user = serveAnswer(json(body, 400));
    expect(await runCli(user, ["query", "logs | wher x"])).toEqual({
      exitCode: 1,
      stdout: "",
      stderr:
        "obs: KQL_INVALID: Unknown operator `wher`.\n  1 | logs | wher x\n    |        ^^^^\n  instead: where\n",
    });
  });
});

describe("on a terminal", () => {
  function stream(...events: readonly string[]): () => Response {
    return () => new Response(events.join(""), { headers: { "content-type": "text/event-stream" } });
  }
  const progress = `event: progress\ndata: ${JSON.stringify({ ...STATS, rowsRead: 500 })}\n\n`;

  test("the server is asked how far it is, and the answer fits", async () => {
    const result = `event: result\ndata: ${answerText(ANSWER)}\n\n`;
    using user = serveAnswer(stream(progress, progress, result));
    const terminal = spawnOnTerminal(user, ["query", "logs"], 40);
    expect(await terminal.exited).toBe(0);
    expect(asked[0]?.accept).toStartWith("text/event-stream");
    const [shown, answer = ""] = terminal.screen().split("\r\u001b[K\u001b[1m");
    expect(shown).toBe(`\r\u001b[K500 rows, 4.8 MiB read in 0.034 s`.repeat(2));
    expect(answer.split("\r\n")).toEqual([
      "service            count_  message\u001b[0m",
      "web      9007199254740993  \\x1b[31m日本…",
      "                        2",
      "2 rows in 0.034 s; read 1,234,567 rows, 4.8 MiB",
      "",
    ]);
  });

  test("a query that is asked for is completed by Tab, told of its names and run behind an empty line", async () => {
    const completions = {
      items: [{ kind: "column", label: "level", insert: "level", detail: "string" }],
      replace: { start: 17, end: 19 },
      names: [{ code: "NO_SUCH_ATTRIBUTE", day: null, message: "statsu is no column." }],
    };
    using user = serveAnswer(() =>
      JSON.stringify(asked.at(-1)?.body).includes('le"')
        ? json(JSON.stringify({ ...completions, partial: false, warnings: [] }))()
        : stream(`event: result\ndata: ${answerText(ANSWER)}\n\n`)(),
    );
    const terminal = spawnOnTerminal(user, ["query"]);
    const shows = (text: string) => eventually(text, async () => terminal.screen().includes(text) || null);
    await shows("kql> ");
    terminal.type("logs\r");
    await shows("...> ");
    terminal.type("| where not(le");
    await shows("| where not(le");
    terminal.type("\t");
    await shows("statsu is no column.");
    await shows("level");
    terminal.type(" == 1)\r");
    terminal.type("\r");
    expect(await terminal.exited).toBe(0);
    expect(asked.map(({ body }) => body)).toEqual([
      { query: "logs\n| where not(le" },
      { query: "logs\n| where not(level == 1)" },
    ]);
    expect(terminal.screen()).toContain("2 rows in 0.034 s");
  });

  test("an interrupt while a query is written sends nothing", async () => {
    using user = serveAnswer(stream(`event: result\ndata: ${answerText(ANSWER)}\n\n`));
    const terminal = spawnOnTerminal(user, ["query"]);
    const shows = (text: string) => eventually(text, async () => terminal.screen().includes(text) || null);
    await shows("kql> ");
    terminal.type("logs\r");
    await shows("...> ");
    const before = asked.length;
    terminal.type("\u0003");
    expect(await terminal.exited).toBe(130);
    expect(asked).toHaveLength(before);
  });

  test("a failure after progress is told like any other", async () => {
    const failure = JSON.stringify({ error: "The query took too long.", code: "QUERY_TIMEOUT" });
    using user = serveAnswer(stream(progress, `event: error\ndata: ${failure}\n\n`));
    const terminal = spawnOnTerminal(user, ["query", "logs"]);
    expect(await terminal.exited).toBe(1);
    expect(terminal.screen()).toEndWith("\r\u001b[Kobs: The query took too long. (QUERY_TIMEOUT)\r\n");
  });

  test("a server that knows no progress just answers, and no form of the answer commands the terminal", async () => {
    using user = serveAnswer(json(answerText({ ...ANSWER, rows: '[["web",1,"\\u001b[31m\u009b"]]' })));
    const plain = { ...user, env: { ...user.env, NO_COLOR: "1" } };
    const shown = {
      "--json": '"message":"\\u001b[31m\\u009b"}',
      "--csv": "web,1,\\x1b[31m\\x9b",
      "--no-progress": "\\x1b[31m\\x9b",
    };
    for (const [flag, text] of Object.entries(shown)) {
      const terminal = spawnOnTerminal(plain, ["query", "logs", flag]);
      expect(await terminal.exited).toBe(0);
      for (const control of ["\u001b", "\u009b"]) expect(terminal.screen()).not.toContain(control);
      expect(terminal.screen()).toContain(`${text}\r\n`);
    }
  });
});
