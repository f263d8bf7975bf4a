/** Programs that send logs, each with its recipe. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../harness/eventually.ts";
import { serverPort } from "../../harness/server-port.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type Entry, type RecipeServer, run, startRecipeServer } from "./recipe-server.ts";
import { installed } from "./senders.ts";

let server: RecipeServer;
beforeAll(async () => {
  server = await startRecipeServer();
});
afterAll(() => server.close());

const AN_ERROR_OF_CHECKOUT = { level: "error", service: "checkout" };
const SYSTEM = { PATH: `${process.env.PATH}:/usr/sbin:/usr/lib/systemd:/lib/systemd` };
const withDaemons = (name: string): string | null => Bun.which(name, SYSTEM);

test("curl", async () => {
  const begun = Date.now();
  await run(["sh", "-euc", server.recipe("curl")]);
  expect(await server.entry("hello from curl", begun)).toMatchObject({ level: "info", service: "curl" });
  for (const message of ["first line", "second line", "a compressed line"])
    await server.entry(message, begun);
});

const logger = withDaemons("logger");

test.skipIf(logger === null)("logger (skipped where it is not installed)", async () => {
  const begun = Date.now();
  await run(["sh", "-euc", server.recipe("logger")]);
  expect(await server.entry("hello from logger", begun)).toMatchObject(AN_ERROR_OF_CHECKOUT);
});

/** Runs a daemon, that listens at a socket, until a message logged through it has arrived, and answers the entry. */
async function logThrough(
  daemon: (directory: string, socket: string) => readonly string[],
  message: string,
): Promise<Entry> {
  using work = temporaryDirectory();
  const socket = join(work.path, "log");
  const child = Bun.spawn([...daemon(work.path, socket)], { stdout: "ignore", stderr: "pipe" });
  const errors = new Response(child.stderr).text();
  const begun = Date.now();
  try {
    const ended = child.exited.then(async (code) => {
      throw new Error(`the daemon ended with ${code}: ${await errors}`);
    });
    ended.catch(() => undefined);
    const logged = async () => {
      await eventually("the daemon takes messages", () => existsSync(socket));
      await run(["logger", "-u", socket, "-t", "checkout", "-p", "user.err", message]);
      await server.arrived(message);
    };
    await Promise.race([logged(), ended]);
  } finally {
    child.kill();
    await child.exited;
  }
  return server.entry(message, begun);
}

const rsyslog = withDaemons("rsyslogd");
const canSendJson = [...new Bun.Glob("/usr/lib/*/rsyslog/omelasticsearch.so").scanSync("/")].length > 0;

describe.skipIf(rsyslog === null || logger === null)("rsyslog (skipped where it is not installed)", () => {
  const daemon = (recipe: string) => (directory: string, socket: string) => {
    const config = join(directory, "rsyslog.conf");
    writeFileSync(
      config,
      `global(workDirectory="${directory}")
      module(load="imuxsock" SysSock.Use="off")
      input(type="imuxsock" Socket="${socket}" CreatePath="on")
      ${server.recipe(recipe)}`,
    );
    return [rsyslog ?? "", "-n", "-f", config, "-i", join(directory, "pid")];
  };

  test("syslog over TCP", async () =>
    expect(await logThrough(daemon("rsyslog-tcp"), "hello from rsyslog over TCP")).toMatchObject(
      AN_ERROR_OF_CHECKOUT,
    ));

  test.skipIf(!canSendJson)(
    "JSON over HTTP (skipped where rsyslog-elasticsearch is not installed)",
    async () =>
      expect(await logThrough(daemon("rsyslog-json"), "hello from rsyslog in JSON")).toMatchObject(
        AN_ERROR_OF_CHECKOUT,
      ),
  );
});

const unpacked = installed("syslog-ng");
const syslogNg = unpacked === null ? withDaemons("syslog-ng") : join(unpacked, "syslog-ng");

describe.skipIf(syslogNg === null || logger === null)("syslog-ng (skipped where it is not installed)", () => {
  const daemon = (recipe: string) => (directory: string, socket: string) => {
    const config = join(directory, "syslog-ng.conf");
    writeFileSync(
      config,
      `@version: 3.35
source s_src { unix-dgram("${socket}"); };
${server.recipe(recipe)}`,
    );
    const state = ["-R", "persist", "-c", "control", "-p", "pid"].map((word) =>
      word.startsWith("-") ? word : join(directory, word),
    );
    return [syslogNg ?? "", "-F", "--no-caps", "-f", config, ...state];
  };

  test("syslog over TCP", async () =>
    expect(await logThrough(daemon("syslog-ng-tcp"), "hello from syslog-ng over TCP")).toMatchObject(
      AN_ERROR_OF_CHECKOUT,
    ));

  test("JSON over HTTP", async () =>
    expect(await logThrough(daemon("syslog-ng-http"), "hello from syslog-ng in JSON")).toMatchObject(
      AN_ERROR_OF_CHECKOUT,
    ));
});

const built = installed("collector");
const collector =
  built === null ? (withDaemons("otelcol") ?? withDaemons("otelcol-contrib")) : join(built, "otelcol");

test.skipIf(collector === null)(
  "the OpenTelemetry Collector (skipped where it is not installed)",
  async () => {
    using work = temporaryDirectory();
    const port = await serverPort();
    const config = join(work.path, "collector.yaml");
    writeFileSync(
      config,
      `receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:${port}" } } } }
${server.recipe("collector")}
service:
  telemetry: { metrics: { level: none } }
  pipelines: { logs: { receivers: [otlp], exporters: [otlp_http/obs] } }
`,
    );
    const child = Bun.spawn([collector ?? "", "--config", config], { stdout: "ignore", stderr: "ignore" });
    const begun = Date.now();
    try {
      const address = `http://127.0.0.1:${port}/v1/logs`;
      await eventually("the Collector listens", () =>
        fetch(address).then(
          () => true,
          () => false,
        ),
      );
      const program = server
        .recipe("opentelemetry")
        .replace(/url: ".*"/, `url: "${address}"`)
        .replace("hello from opentelemetry", "hello through the collector");
      await run([process.execPath, "-e", program]);
      await server.arrived("hello through the collector");
    } finally {
      child.kill();
      await child.exited;
    }
    expect(await server.entry("hello through the collector", begun)).toMatchObject({
      ...AN_ERROR_OF_CHECKOUT,
      host: "web-1",
      attrs: { orderId: 17 },
    });
  },
);

const uploader = withDaemons("systemd-journal-upload");
const journalWriter = withDaemons("systemd-journal-remote");
const JOURNALED_AT = "2026-09-21T14:13:20.123456Z";
const JOURNAL = `__REALTIME_TIMESTAMP=1790000000123456
__MONOTONIC_TIMESTAMP=1000
_BOOT_ID=0123456789abcdef0123456789abcdef
MESSAGE=hello from the journal
PRIORITY=3
SYSLOG_IDENTIFIER=checkout
_HOSTNAME=web-1

`;

test.skipIf(uploader === null || journalWriter === null)(
  "systemd-journal-upload, twice, and each entry is stored once (skipped where it is not installed)",
  async () => {
    using work = temporaryDirectory();
    const [text, journal] = [join(work.path, "export"), join(work.path, "one.journal")];
    writeFileSync(text, JOURNAL);
    await run([journalWriter ?? "", "-o", journal, text]);
    const [, url = ""] = /^URL=(.*)$/m.exec(server.recipe("journal-upload")) ?? [];
    for (let repetition = 0; repetition < 2; repetition++)
      await run([uploader ?? "", "--url", url, "--file", journal, "--follow=no"]);
    expect(await server.entry("hello from the journal", Date.parse(JOURNALED_AT))).toMatchObject({
      ...AN_ERROR_OF_CHECKOUT,
      ts: JOURNALED_AT,
      host: "web-1",
    });
  },
);
