/** docs/errors-grouped.md, docs/detections.md and docs/sigma.md, followed word by word by a shell against a server. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../harness/eventually.ts";
import { followGuide } from "../harness/guide.ts";
import { makeToken, type ServerProcess } from "../harness/server-process.ts";
import { startSuiteServer } from "../harness/suite-server.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";

let server: ServerProcess;
let token: string;
beforeAll(async () => {
  server = await startSuiteServer();
  token = await makeToken(server.url);
});
afterAll(async () => {
  await server.stop();
});

async function ask(path: string) {
  const headers = { authorization: `Bearer ${token}` };
  return JSON.parse(await (await fetch(`${server.url}/api/v1${path}`, { headers })).text());
}

/** Each line of JSON that a step printed; none is an error. */
function answersIn(said: string) {
  expect(said.match(/"code":"[A-Z_]+"/g)).toBeNull();
  const closed = said.replace(/\}(?=\{|\[)/g, "}\n").replace(/\](?=\{|\[\{)/g, "]\n");
  return closed
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

test("the guide to errors leads from the first error to groups that were resolved, came again, were merged and taken apart", async () => {
  using shellDirectory = temporaryDirectory();
  const guide = await followGuide("errors-grouped.md", {
    url: server.url,
    token,
    directory: shellDirectory.path,
  });
  const [
    setUp = "",
    send = "",
    look = "",
    settle = "",
    again = "",
    lookAgain = "",
    merge = "",
    unmerge = "",
    bounds = "",
  ] = guide.steps;
  try {
    await guide.run(setUp);
    await guide.run(send);
    await eventually("both faults have their groups", async () => {
      const { items } = await ask("/log-errors?service=checkout");
      return items.reduce((sum: number, { count }: { count: number }) => sum + count, 0) === 3;
    });
    const [list, first] = answersIn(await guide.run(look));
    expect(list.items).toMatchObject([
      { id: 2, title: "RefundError: no answer", count: 1 },
      {
        ...{ id: 1, title: "CardError: card 4711 declined", count: 2 },
        firstRelease: "1.5.0",
        lastRelease: "1.5.1",
      },
    ]);
    expect(first).toMatchObject({ environments: [{ value: "prod", count: 2 }], samples: [{}, {}] });
    expect(first.exceptions[0].frames[0]).toMatchObject({ function: "charge", inApp: true });
    const [resolved, ignored, listed] = answersIn(await guide.run(settle));
    expect([resolved.status, ignored.status, listed.items.length]).toEqual(["resolved", "ignored", 1]);
    await guide.run(again);
    await eventually("the fault is open again", async () => (await ask("/log-errors/1")).status === "open");
    const [regressed, open] = answersIn(await guide.run(lookAgain));
    expect(regressed).toMatchObject({ count: 3, regressedAt: expect.any(String), regressedRelease: "1.6.0" });
    expect(open.status).toBe("open");
    const [similar, merged, both] = answersIn(await guide.run(merge));
    expect(similar).toMatchObject([{ group: { id: 2 }, why: ["calls"] }]);
    expect(merged).toMatchObject({ id: 2, mergedInto: 1 });
    expect(both).toMatchObject({ count: 4, merged: [{ id: 2, count: 1 }] });
    expect(answersIn(await guide.run(unmerge))).toMatchObject([{ id: 2, mergedInto: null, count: 1 }]);
    expect(answersIn(await guide.run(bounds))).toMatchObject([
      { items: [{}], other: { count: 0, lastHour: null } },
    ]);
  } finally {
    await guide.close();
  }
});

test("the guide to detections previews a rule of a pack, makes the pack, and sees it tell", async () => {
  using shellDirectory = temporaryDirectory();
  const guide = await followGuide("detections.md", {
    url: server.url,
    token,
    directory: shellDirectory.path,
  });
  const [setUp = "", seed = "", fire = "", look = ""] = guide.steps;
  try {
    await guide.run(setUp);
    const [preview, seeded] = answersIn(await guide.run(seed));
    expect(preview.matched).toBe(0);
    expect(seeded).toMatchObject({ packs: [{ id: "linux-auth", seen: false }] });
    expect(seeded.created).toBeGreaterThan(5);
    await guide.run(fire);
    await eventually("the rule has told", async () => (await ask("/incidents?status=open")).items.length > 0);
    const [incidents, previewed] = answersIn(await guide.run(look));
    expect(incidents.items[0].title).toStartWith("Root signed in over SSH");
    expect(previewed.matched).toBe(1);
  } finally {
    await guide.close();
  }
});

test.skipIf(Bun.which("jq") === null)(
  "the guide to Sigma says what a file becomes, previews it, makes it, and sees it tell",
  async () => {
    using shellDirectory = temporaryDirectory();
    const guide = await followGuide("sigma.md", { url: server.url, token, directory: shellDirectory.path });
    const [tryIt = "", preview = "", make = "", fire = "", look = ""] = guide.steps;
    try {
      const [
        {
          results: [dry],
        },
      ] = answersIn(await guide.run(tryIt));
      expect(dry).toMatchObject({
        title: "A shell by a web server",
        ruleKind: "log",
        rule: { severity: "high" },
      });
      expect(dry.fields.map(({ seen }: { seen: boolean }) => seen)).toEqual([false, false]);
      expect(answersIn(await guide.run(preview))).toMatchObject([{ matched: 0 }]);
      const [
        {
          results: [made],
        },
      ] = answersIn(await guide.run(make));
      expect(made).toMatchObject({ updated: false, ruleId: expect.any(Number) });
      await guide.run(fire);
      const hasTold = async () => {
        const { items } = await ask("/incidents?status=open");
        return items.some(({ title }: { title: string }) => title.startsWith("A shell by a web server"));
      };
      await eventually("the rule has told", hasTold);
      expect(await guide.run(look)).toContain("A shell by a web server");
    } finally {
      await guide.close();
    }
  },
);
