/** `obs import` as a process: the files that it writes are planned by the server, and nothing is changed there. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { type Listener, listen } from "../../../../src/http/server.ts";
import {
  type ConfigurationServer,
  configurationServer,
  type Organization,
} from "../../../domains/configuration/configuration-server.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { type CliResult, runCli } from "../cli-process.ts";
import { makeKumaDatabase } from "./kuma-database.ts";

let stores: TestStores;
let server: ConfigurationServer;
let listener: Listener;
let directory: TemporaryDirectory;
let made = 0;
beforeAll(async () => {
  stores = await openTestStores();
  server = configurationServer(stores);
  listener = listen(server.app.app, { hostname: "127.0.0.1", port: 0 });
  directory = temporaryDirectory();
});
afterAll(async () => {
  await listener.stop();
  await stores.close();
  directory[Symbol.dispose]();
});

interface Importer {
  readonly organization: Organization;
  readonly folder: string;
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<CliResult>;
  /** A file that was written. */
  text(kind: string): string;
  /** The records that it describes. */
  records(kind: string): Record<string, Record<string, unknown>>;
}

async function importer(): Promise<Importer> {
  const name = `import-${++made}`;
  const organization = await server.organization(name);
  const folder = join(directory.path, name);
  mkdirSync(folder);
  const own = { OBS_URL: listener.url, OBS_TOKEN: `admin/*/${organization.userId}/${organization.id}` };
  const text = (kind: string): string => readFileSync(join(folder, "obs", `${kind}.yaml`), "utf8");
  return {
    ...{ organization, folder, text },
    run: (args, env = {}) => runCli({ directory: folder, env: { ...own, ...env } }, args),
    records: (kind) => parse(text(kind))[kind],
  };
}

/** Whether the server takes what was written, every record as a new one, and has none of it. */
async function expectPlanned(importer: Importer, env: Readonly<Record<string, string>> = {}): Promise<void> {
  const planned = await importer.run(["plan", "--json"], env);
  expect([planned.exitCode, planned.stderr]).toEqual([2, expect.stringContaining("nothing is done yet")]);
  const { summary, changes } = JSON.parse(planned.stdout);
  expect(summary.create).toBe(changes.length);
  expect(await importer.organization.export()).toEqual({});
}

test.each([1, 2] as const)(
  "a database of Uptime Kuma %i becomes files, with a comment for all that it does not",
  async (version) => {
    const kuma = await importer();
    makeKumaDatabase(join(kuma.folder, "kuma.db"), version);
    const { exitCode, stderr } = await kuma.run(["import", "uptime-kuma", "kuma.db"]);
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining("nothing is changed on the server")]);
    const monitors = kuma.records("monitors");
    expect(monitors.shop).toEqual({
      ...{ name: "Shop", type: "https", url: "https://shop.example.com/health", method: "POST" },
      headers: {
        "X-Token": { secret: "file:secrets/shop-header-x-token" },
        Accept: "text/plain",
        Authorization: { secret: "file:secrets/shop-header-authorization" },
      },
      body: { secret: "file:secrets/shop-body" },
      ...{ intervalSec: 60, timeoutMs: 12_000, alertThreshold: 3, retryIntervalSec: 20, remindEverySec: 600 },
      ...{ tags: ["team-pay-ments", "production"] },
      alertChatAUrl: { secret: "file:secrets/shop-alertchataurl" },
    });
    expect(monitors["shop-2"]).toMatchObject({
      ...{ type: "keyword", keyword: "error", keywordMatchType: "not_contains" },
      ...{ intervalSec: 30, paused: true, followRedirects: false },
    });
    expect(monitors.queue?.steps).toMatchObject([
      {
        assertions: [
          { source: "status_code" },
          {
            source: "body_json",
            path: "$.queue.length",
            comparison: version === 1 ? "eq" : "gt",
            value: "5",
          },
        ],
      },
    ]);
    expect(Object.entries(monitors).map(([key, { type, url, port }]) => [key, type, url, port])).toEqual([
      ["shop", "https", "https://shop.example.com/health", undefined],
      ["certificate-shop-example-com", "ssl", "shop.example.com", undefined],
      ["shop-2", "keyword", "http://shop.example.com/", undefined],
      ["queue", "multi_step", "https://shop.example.com/q", undefined],
      ["ssh", "port", "ssh.example.com", 22],
      ["router", "ping", "router.example.com", undefined],
      ["mail", "dns", "dns://9.9.9.9/example.com?type=MX", undefined],
      ["backup", "heartbeat", "backup", undefined],
      ["orders", "port", "db.example.com", 5432],
      ["ledger", "port", "sql.example.com", 1444],
    ]);
    const comments = kuma
      .text("monitors")
      .split("\n")
      .filter((line) => line.trim().startsWith("#"));
    expect(comments.map((line) => line.trim())).toEqual([
      "# Taken over from Uptime Kuma (kuma.db).",
      "# Not taken over:",
      "# - the notification Matrix, of the type matrix: there is no such channel",
      "# - Production, of the type group: its members carry its name as a tag",
      "# - Honeypot, of the type http: it is upside down: it would tell of what is well",
      "# - Cart, of the type docker: there is no such check",
      ...(version === 2 ? ["# - the end of domains: no check looks at it"] : []),
      "# Not taken over: the statuses 200-299, 418; 200 to 399 are fine",
      "# Not taken over: the notification Matrix, of the type matrix: there is no such channel",
      "# Not taken over: the description: The shop\\n# monitors: {}",
      "# Not taken over: an interval of 20 s; it is 30 s",
      "# Not taken over: its address: senders need the one that the server gives to this monitor",
      "# Not taken over: what it asks of postgres: it is checked that it listens",
      "# Not taken over: what it asks of sqlserver: it is checked that it listens",
    ]);
    expect(kuma.text("maintenance-windows")).toContain("# - Patch day: cron (0 3 * * 2, Europe/Berlin)");
    expect(kuma.records("status-pages").kuma).toMatchObject({
      groups: [{ name: "Services", monitorIds: [{ ref: "monitors/shop" }, { ref: "monitors/router" }] }],
    });
    for (const secret of ["s3cret", "secret-hook", "t0p", ":pw@", "Password"])
      expect([secret, kuma.text("monitors").includes(secret)]).toEqual([secret, false]);
    const kept = join(kuma.folder, "obs/secrets/shop-header-authorization");
    expect([statSync(kept).mode & 0o777, readFileSync(kept, "utf8")]).toEqual([
      0o600,
      `Basic ${btoa("probe:s3cret")}\n`,
    ]);
    expect(readFileSync(join(kuma.folder, "obs/secrets/.gitignore"), "utf8")).toBe("*\n");
    await expectPlanned(kuma);
    expect(await kuma.run(["import", "uptime-kuma", "kuma.db"])).toMatchObject({ exitCode: 1 });
  },
);

test("what is no database of Uptime Kuma is told, and nothing is written", async () => {
  const { folder, run } = await importer();
  writeFileSync(join(folder, "text.db"), "no database\n".repeat(100));
  for (const [name, why] of [
    ["text.db", "not a database"],
    ["none.db", "cannot be opened"],
  ] as const) {
    const { exitCode, stderr } = await run(["import", "uptime-kuma", name]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(why)]);
  }
});

const GATUS = `storage: { type: sqlite, path: /data/data.db }
alerting:
  slack:
    webhook-url: "\${SLACK_URL}"
    default-alert: { failure-threshold: 5, send-on-resolved: true }
  email: { from: gatus@example.com, host: mail.example.com, to: "ops@example.com,dev@example.com" }
maintenance: { start: "23:00", duration: 1h, every: [Monday] }
endpoints:
  - name: back-end
    group: core
    url: "https://example.org/"
    interval: 5m
    conditions: ["[STATUS] == 200", "[CERTIFICATE_EXPIRATION] > 48h", "[RESPONSE_TIME] < 300", "[IP] == 192.0.2.1"]
    alerts:
      - { type: slack, minimum-reminder-interval: 1h }
      - { type: email, failure-threshold: 2 }
      - { type: ntfy }
  - name: rendered
    url: "https://example.org/"
    headers: { Authorization: Bearer abc }
    conditions: ["[STATUS] == 200", "[BODY] == pat(*<h1>Example Domain</h1>*)"]
  - name: api
    url: "https://api.example.org/v1"
    method: POST
    body: "{ me }"
    graphql: true
    conditions: ["[BODY].status == UP", "len([BODY].data) == 5", "has([BODY].errors) == false", "[BODY].data[0].age > 7"]
    client: { timeout: 3s, insecure: true, proxy-url: http://192.0.2.3:3128 }
  - name: example-dns-query
    url: "9.9.9.9"
    dns: { query-name: "example.com", query-type: "A" }
    conditions: ["[BODY] == 93.184.216.34", "[DNS_RCODE] == NOERROR"]
  - { name: icmp-ping, url: "icmp://example.org", interval: 1m, conditions: ["[CONNECTED] == true"] }
  - { name: cache, url: "tcp://cache.example.org:6379", enabled: false, conditions: ["[CONNECTED] == true"] }
  - { name: socket, url: "ws://example.org/", conditions: ["[CONNECTED] == true"] }
external-endpoints:
  - { name: ext-ep-test, group: core, token: potato, heartbeat: { interval: 30m }, alerts: [{ type: slack }] }
`;

test("a configuration of Gatus becomes monitors: conditions, alerts and heartbeats", async () => {
  const gatus = await importer();
  writeFileSync(join(gatus.folder, "config.yaml"), GATUS);
  expect((await gatus.run(["import", "gatus", "config.yaml"])).exitCode).toBe(0);
  const monitors = gatus.records("monitors");
  expect(monitors["back-end"]).toEqual({
    ...{
      name: "core/back-end",
      type: "https",
      url: "https://example.org/",
      intervalSec: 300,
      timeoutMs: 10_000,
    },
    ...{ expectedStatusCode: 200, degradedResponseTimeMs: 300, tags: ["core"] },
    ...{ alertChatAUrl: { secret: "env:SLACK_URL" }, alertEmail: "ops@example.com" },
    ...{ alertThreshold: 2, recoveryThreshold: 2, remindEverySec: 3600 },
  });
  expect(monitors["certificate-example-org"]).toMatchObject({
    type: "ssl",
    url: "example.org",
    expiryWarnDays: 2,
  });
  expect(monitors.rendered).toMatchObject({ type: "keyword", keyword: "<h1>Example Domain</h1>" });
  expect(monitors.api).toMatchObject({
    ...{ type: "multi_step", timeoutMs: 3000 },
    steps: [
      {
        ...{ method: "POST", url: "https://api.example.org/v1" },
        assertions: [
          { source: "status_code", comparison: "lt", value: 400 },
          { source: "body_json", path: "status", comparison: "eq", value: "UP" },
          { source: "body_json", path: "errors", comparison: "not_exists" },
          { source: "body_json", path: "data[0].age", comparison: "gt", value: 7 },
        ],
      },
    ],
  });
  expect(readFileSync(join(gatus.folder, "obs/secrets/api-body"), "utf8")).toBe('{"query":"{ me }"}\n');
  expect(monitors["example-dns-query"]).toMatchObject({
    url: "dns://9.9.9.9/example.com?type=A",
    keyword: "93.184.216.34",
  });
  expect(monitors["icmp-ping"]).toMatchObject({ type: "ping", url: "example.org" });
  expect(monitors.cache).toMatchObject({ type: "port", url: "cache.example.org", port: 6379, paused: true });
  expect(monitors["ext-ep-test"]).toMatchObject({ type: "heartbeat", intervalSec: 1800, alertThreshold: 5 });
  for (const comment of [
    "- socket, ws://example.org/: there is no such check",
    "the condition [IP] == 192.0.2.1",
    "the alert by ntfy: there is no such channel",
    "that it is down beyond 300 ms",
    "the condition len([BODY].data) == 5",
    "client.proxy-url",
    "client.insecure",
    "alerts after 5 and 2 and 3 failures; it is the fewest",
  ])
    expect([comment, gatus.text("monitors").includes(comment)]).toEqual([comment, true]);
  expect(gatus.text("maintenance-windows")).toContain("- the daily maintenance");
  expect(gatus.text("monitors")).not.toContain("potato");
  const missing = await gatus.run(["plan"]);
  expect([missing.exitCode, missing.stderr]).toEqual([1, expect.stringContaining("SLACK_URL is not set")]);
  await expectPlanned(gatus, { SLACK_URL: "https://chat.example.com/x" });
});

test("a file that Gatus would not read is told with its place", async () => {
  const { folder, run } = await importer();
  writeFileSync(join(folder, "config.yaml"), "endpoints:\n  - name: a\n    name: b\n");
  const { exitCode, stderr } = await run(["import", "gatus", "config.yaml"]);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("config.yaml:3:5 name stands here twice")]);
});

const page = (results: unknown[]) => ({ count: results.length, next: null, previous: null, results });
const onCallAnswers = (email: string): Record<string, unknown> => ({
  users: page([{ id: "U4", email, username: "one" }]),
  schedules: page([
    {
      ...{ id: "S3", name: "First line", type: "calendar", team_id: null, time_zone: "America/New_York" },
      ...{
        on_call_now: ["U4"],
        shifts: ["OH3"],
        ical_url_overrides: null,
        slack: { channel_id: "C1", user_group_id: null },
      },
    },
  ]),
  escalation_chains: page([
    { id: "F5", name: "default", team_id: null },
    { id: "F6", name: "nobody", team_id: null },
  ]),
  escalation_policies: page([
    { id: "E2", escalation_chain_id: "F5", position: 1, type: "wait", duration: 300 },
    {
      id: "E1",
      escalation_chain_id: "F5",
      position: 0,
      type: "notify_on_call_from_schedule",
      important: true,
      notify_on_call_from_schedule: "S3",
    },
    {
      id: "E3",
      escalation_chain_id: "F5",
      position: 2,
      type: "notify_persons",
      persons_to_notify: ["U4", "U9"],
    },
    { id: "E4", escalation_chain_id: "F5", position: 3, type: "trigger_webhook", action_to_trigger: "W1" },
    { id: "E5", escalation_chain_id: "F5", position: 4, type: "repeat_escalation" },
    { id: "E6", escalation_chain_id: "F6", position: 0, type: "wait", duration: 60 },
  ]),
  integrations: page([
    { id: "C1", name: "Grafana", type: "grafana", default_route: { id: "R1", escalation_chain_id: "F5" } },
  ]),
});
const SHIFTS = [
  {
    user_pk: "U4",
    user_username: "one",
    shift_start: "2035-01-09T09:00:00Z",
    shift_end: "2035-01-10T09:00:00Z",
  },
  {
    user_pk: "U4",
    user_username: "one",
    shift_start: "2035-01-02T09:00:00Z",
    shift_end: "2035-01-02T17:00:00Z",
  },
];
const shiftsOf = (email: string) => page(SHIFTS.map((shift) => ({ ...shift, user_email: email })));

async function expectOnCall(importer: Importer): Promise<void> {
  const userId = importer.organization.email;
  expect(importer.records("on-call-schedules")).toEqual({
    "first-line": {
      ...{ name: "First line", timezone: "America/New_York" },
      rotations: [
        { userId, startsAt: "2035-01-02T09:00:00Z", endsAt: "2035-01-02T17:00:00Z" },
        { userId, startsAt: "2035-01-09T09:00:00Z", endsAt: "2035-01-10T09:00:00Z" },
      ],
    },
  });
  expect(importer.records("escalation-policies")).toEqual({
    default: {
      ...{ name: "default", repeat: 5 },
      steps: [
        { type: "schedule", scheduleId: { ref: "on-call-schedules/first-line" }, delaySec: 0 },
        { type: "user", userId, delaySec: 300 },
      ],
    },
  });
  const text = importer.text("on-call-schedules") + importer.text("escalation-policies");
  for (const comment of [
    "the channel of Slack",
    "the turns go on until 2035-01-10T09:00:00Z",
    "the person U9, whose address is not known",
    "a step of the type trigger_webhook",
    "that the step notify_on_call_from_schedule is important",
    "the chain nobody: no step of it reaches anybody",
    "the integration Grafana, of the type grafana: POST /alert-receivers makes one, with the policy default",
  ])
    expect([comment, text.includes(comment)]).toEqual([comment, true]);
  await expectPlanned(importer);
}

test("an export of Grafana OnCall becomes schedules and policies, with the turns that it worked out itself", async () => {
  const onCall = await importer();
  const { email } = onCall.organization;
  const whole = { ...onCallAnswers(email), final_shifts: { S3: shiftsOf(email) } };
  writeFileSync(join(onCall.folder, "oncall.json"), JSON.stringify(whole));
  expect((await onCall.run(["import", "grafana-oncall", "oncall.json"])).exitCode).toBe(0);
  await expectOnCall(onCall);
});

test("the API of Grafana OnCall is asked page by page, and its token goes to nobody else", async () => {
  const onCall = await importer();
  const answers = onCallAnswers(onCall.organization.email);
  const asked: [string, string, string | null][] = [];
  const api = Bun.serve({
    ...{ hostname: "127.0.0.1", port: 0 },
    fetch: (request) => {
      const { pathname, searchParams } = new URL(request.url);
      asked.push([request.method, pathname, request.headers.get("authorization")]);
      const name = pathname.split("/")[3] ?? "";
      if (pathname.endsWith("/final_shifts")) {
        const all = shiftsOf(onCall.organization.email);
        const at = searchParams.get("page") === "2" ? 1 : 0;
        const next = at === 0 ? `${request.url}&page=2` : `http://127.0.0.1:1/elsewhere`;
        return Response.json({ ...all, results: all.results.slice(at, at + 1), next });
      }
      return Response.json(answers[name] ?? {});
    },
  });
  try {
    const args = ["import", "grafana-oncall", "--from", `http://127.0.0.1:${api.port}`];
    expect((await onCall.run(args, { ONCALL_TOKEN: "" })).exitCode).toBe(2);
    expect(asked).toEqual([]);
    expect(await onCall.run(args, { ONCALL_TOKEN: "meow" })).toMatchObject({ exitCode: 0 });
  } finally {
    await api.stop(true);
  }
  expect(new Set(asked.map(([method, , token]) => `${method} ${token}`))).toEqual(new Set(["GET meow"]));
  await expectOnCall(onCall);
});

const RULE = `title: A shell by a web server
id: 0f7a4c1e-52b3-4f0e-9d61-6a8c2f4b7e10
tags: [attack.t1505.003]
logsource: { product: linux, category: process_creation }
detection:
  shell: { Image|endswith: [/sh, /bash] }
  condition: shell
level: high
`;
const BROKEN = `title: Another
logsource: { product: linux }
detection:
  a: { Image|expand: "%shells%" }
  condition: a
`;

test("Sigma rules are converted by the server without being made there, and what it refuses has its file and line", async () => {
  const sigma = await importer();
  mkdirSync(join(sigma.folder, "rules/deep"), { recursive: true });
  writeFileSync(
    join(sigma.folder, "rules/a.yml"),
    `${RULE}---\n${RULE.replace("0f7a", "1f7a").replace("A shell", "Also a shell")}`,
  );
  writeFileSync(join(sigma.folder, "rules/deep/b.yml"), BROKEN);
  const { exitCode } = await sigma.run(["import", "sigma", "rules"]);
  expect(exitCode).toBe(0);
  expect(Object.keys(sigma.records("log-alerts"))).toEqual([
    "a-shell-by-a-web-server",
    "also-a-shell-by-a-web-server",
  ]);
  expect(sigma.records("log-alerts")["a-shell-by-a-web-server"]).toMatchObject({
    ...{ name: "A shell by a web server", severity: "high", attackTechnique: "T1505.003" },
    kql: expect.stringContaining("/bash"),
  });
  expect(sigma.text("log-alerts")).toMatch(/# - rules\/deep\/b\.yml:4:\d+ Another: /);
  await expectPlanned(sigma);
});
