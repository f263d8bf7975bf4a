import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createServer, type Server } from "node:http";
import { Connector } from "../../src/outbound/connector.ts";
import { OutboundPolicy } from "../../src/outbound/outbound-policy.ts";
import { Browser, findBrowser } from "../../src/probes/browser/browser.ts";
import type { CheckSpec, RunCheck } from "../../src/probes/check.ts";
import { eventually } from "../harness/eventually.ts";
import { checking, listen, specOf, verdict } from "./checking.ts";

const path = findBrowser(null);
let server: Server;
let port: number;
let browser: Browser;
let run: RunCheck;
const asked: string[] = [];

const page = (script: string): string =>
  `<title>x</title><body><p id=p>Loading</p><script>${script}</script>`;
const PAGES: Readonly<Record<string, string>> = {
  "/": page('document.getElementById("p").textContent = "Welcome " + 1 + 1'),
  "/alert": page('alert("stop"); document.getElementById("p").textContent = "after"'),
  "/popup": page('for (let i = 0; i < 5; i++) open("/")'),
  "/loop": page("for (;;);"),
  // A page is loaded when all of these have been tried.
  "/inward": ["img", "iframe", "script"]
    .map(
      (tag) =>
        `<${tag} src="http://127.0.0.2:PORT/reached"></${tag}><${tag} src="http://[::1]:PORT/reached"></${tag}>`,
    )
    .join(""),
};

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(`${request.headers.host} ${request.url}`);
    const url = new URL(request.url ?? "/", "http://x");
    const to = url.searchParams.get("to");
    const text = PAGES[url.pathname];
    if (to !== null) response.writeHead(302, { location: to }).end();
    else if (url.pathname === "/silent") return;
    else if (url.pathname === "/cut") response.destroy();
    else
      response
        .writeHead(text === undefined ? 404 : 200, { "content-type": "text/html" })
        .end(text?.replaceAll("PORT", String(port)) ?? "nothing here");
  });
  // Of every address of the loopback, so that what is not to be reached could be.
  await new Promise<void>((listening) => server.listen(0, "0.0.0.0", listening));
  const address = server.address();
  port = address !== null && typeof address === "object" ? address.port : 0;
  const connector = new Connector({
    policy: new OutboundPolicy({ allow: ["127.0.0.1"], allowPrivate: false }),
  });
  browser = new Browser({ connector, path });
  run = checking({ allow: ["127.0.0.1"], browser });
});
afterAll(async () => {
  await browser.close();
  server.closeAllConnections();
  server.close();
});

const loaded = (where: string, given: Partial<CheckSpec> = {}) =>
  run(specOf({ type: "browser", url: `http://127.0.0.1:${port}${where}`, ...given }));
const verdictOf = async (where: string, given: Partial<CheckSpec> = {}): Promise<string> =>
  verdict(await loaded(where, given));

/** Processes of this machine that were started by this one, at any remove. */
async function descendants(root: number): Promise<number[]> {
  const lines = (await Bun.$`ps -eo pid=,ppid=,stat=`.text()).trim().split("\n");
  const parents = lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , state]) => !state?.startsWith("Z"))
    .map(([pid, parent]) => [Number(pid), Number(parent)] as const);
  const found = new Set([root]);
  for (let before = 0; before !== found.size; ) {
    before = found.size;
    for (const [pid, parent] of parents) if (found.has(parent)) found.add(pid);
  }
  found.delete(root);
  return [...found];
}

test("without a browser nothing is found out, and that is said", async () => {
  expect(verdict(await checking()(specOf({ type: "browser", url: `http://127.0.0.1:${port}/` })))).toBe(
    "unknown browser_missing",
  );
});

describe.skipIf(path === null)("a page", () => {
  test("that loads is up, and its text is what its scripts have made of it", async () => {
    const outcome = await loaded("/", { keyword: "Welcome 11" });
    expect([verdict(outcome), outcome.statusCode]).toEqual(["up", 200]);
    expect(await verdictOf("/", { keyword: "Loading" })).toBe("down keyword");
    expect(await verdictOf("/gone")).toBe("down status_code");
    expect(await verdictOf("/gone", { expectedStatusCode: 404 })).toBe("up");
  });

  test("that asks, and one that opens others, loads all the same", async () => {
    expect(await verdictOf("/alert", { keyword: "after" })).toBe("up");
    expect(await verdictOf("/popup")).toBe("up");
  });

  test("that does not load is down by what went wrong", async () => {
    expect(await verdictOf("/cut")).toBe("down connection_reset");
    expect(await verdictOf("/silent", { timeoutMs: 1_000 })).toBe("down timeout");
    expect(await verdictOf("/loop", { timeoutMs: 1_000 })).toBe("down timeout");
    expect(verdict(await run(specOf({ type: "browser", url: "http://127.0.0.1:1/" })))).toBe(
      "down page_failed",
    );
    const closed = await listen(() => undefined);
    await closed.close();
    expect(verdict(await run(specOf({ type: "browser", url: `http://127.0.0.1:${closed.port}/` })))).toBe(
      "down connection_refused",
    );
    expect(verdict(await run(specOf({ type: "browser", url: "http://gone.invalid/" })))).toBe(
      "down name_not_resolved",
    );
  });

  test("cannot reach inward, by itself, by a redirect, by its scripts", async () => {
    expect(verdict(await run(specOf({ type: "browser", url: `http://127.0.0.2:${port}/reached` })))).toBe(
      "down target_blocked",
    );
    const to = encodeURIComponent(`http://127.0.0.2:${port}/reached`);
    expect(await verdictOf(`/?to=${to}`)).toBe("down target_blocked");
    expect(await verdictOf("/inward")).toBe("up");
    expect(asked.filter((line) => line.includes("/reached"))).toEqual([]);
  });

  test("waits for its turn, two at a time", async () => {
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => verdictOf("/")));
    expect(outcomes).toEqual(Array(6).fill("up"));
  });
});

describe.skipIf(path === null)("the browser", () => {
  test("that is killed says nothing of a page, and another takes its place", async () => {
    for (const pid of await browsersOf(process.pid)) killIfThere(pid);
    const quiet = checking({ allow: ["127.0.0.1"], browser, report: () => undefined });
    const spec = specOf({ type: "browser", url: `http://127.0.0.1:${port}/` });
    await eventually("a new browser loads the page", async () => verdict(await quiet(spec)) === "up");
  });

  test("makes room for a new one after a number of checks, once the last page of it is closed", async () => {
    const before = new Set(await browsersOf(process.pid));
    const policy = new OutboundPolicy({ allow: ["127.0.0.1"], allowPrivate: false });
    const recycled = new Browser({ connector: new Connector({ policy }), path, checksMax: 3 });
    const runs = checking({ allow: ["127.0.0.1"], browser: recycled });
    const load = async () =>
      verdict(await runs(specOf({ type: "browser", url: `http://127.0.0.1:${port}/` })));
    const mains = async () => (await browsersOf(process.pid)).filter((pid) => !before.has(pid));
    expect([await load(), await load()]).toEqual(["up", "up"]);
    const first = await mains();
    // Two pages of it are open when it has made the last of its checks.
    expect(await Promise.all([load(), load()])).toEqual(["up", "up"]);
    await eventually("nothing is left of the first one", async () => (await mains()).length === 0);
    expect(await load()).toBe("up");
    const second = await mains();
    expect([first.length > 0, second.length > 0]).toEqual([true, true]);
    await recycled.close();
    await eventually("no browser is left", async () => (await mains()).length === 0);
  });

  test("leaves no process when it is closed, nor when who started it is killed", async () => {
    await browser.close();
    await eventually("no browser is left", async () => (await browsersOf(process.pid)).length === 0);
    const script = `
      import { Connector } from "./src/outbound/connector.ts";
      import { OutboundPolicy } from "./src/outbound/outbound-policy.ts";
      import { Browser } from "./src/probes/browser/browser.ts";
      import { OutboundScope } from "./src/outbound/outbound-scope.ts";
      const connector = new Connector({ policy: new OutboundPolicy({ allow: [], allowPrivate: false }) });
      const browser = new Browser({ connector, path: ${JSON.stringify(path)} });
      const scope = new OutboundScope(performance.now() + 600_000);
      await browser.withPage({ tlsSkipVerify: false, scope }, () => { console.log("open"); return new Promise(() => undefined); });
    `;
    const child = Bun.spawn([process.execPath, "-e", script], {
      stdout: "pipe",
      cwd: `${import.meta.dir}/../..`,
    });
    const reader = child.stdout.getReader();
    await reader.read();
    const started = await browsersOf(child.pid);
    expect(started.length).toBeGreaterThan(0);
    child.kill("SIGKILL");
    await child.exited;
    await eventually("no browser is left", async () =>
      (await Promise.all(started.map(isBrowser))).every((is) => !is),
    );
  });
});

async function browsersOf(root: number): Promise<number[]> {
  const pids = await descendants(root);
  const are = await Promise.all(pids.map(isBrowser));
  return pids.filter((_, index) => are[index]);
}

async function isBrowser(pid: number): Promise<boolean> {
  const text = await Bun.file(`/proc/${pid}/cmdline`)
    .text()
    .catch(() => "");
  return text.includes("chrom");
}

/** A browser's processes end with one another. */
function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
