/** Programs with libraries that send logs, each as its recipe writes it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type RecipeServer, run, startRecipeServer } from "./recipe-server.ts";
import { installed } from "./senders.ts";

let server: RecipeServer;
beforeAll(async () => {
  server = await startRecipeServer();
});
afterAll(() => server.close());

const AN_ERROR_OF_CHECKOUT = { level: "error", service: "checkout", attrs: { orderId: 17 } };
const CLI = join(import.meta.dir, "../../../clients/cli/main.ts");

describe("Node", () => {
  const send = (recipe: string) => run([process.execPath, "-e", server.recipe(recipe)]);

  test("OpenTelemetry", async () => {
    const begun = Date.now();
    await send("opentelemetry");
    expect(await server.entry("hello from opentelemetry", begun)).toMatchObject({
      ...AN_ERROR_OF_CHECKOUT,
      host: "web-1",
      source: "orders",
    });
  });

  test("winston", async () => {
    const begun = Date.now();
    await run(["sh", "-euc", server.recipe("winston-source")]);
    await send("winston");
    expect(await server.entry("hello from winston", begun)).toMatchObject(AN_ERROR_OF_CHECKOUT);
  });

  test("pino", async () => {
    const begun = Date.now();
    await send("pino");
    expect(await server.entry("hello from pino", begun)).toMatchObject(AN_ERROR_OF_CHECKOUT);
  });
});

/** Runs a command in a folder with these files and the environment that SDKs of OpenTelemetry are told. */
async function runWithOtel(directory: string, command: string): Promise<void> {
  await run(["sh", "-euc", `${server.recipe("otel-environment")}\n${command}`], { directory });
}

/** Runs a program that writes lines into `obs ship`, by the command of the document. */
async function pipe(directory: string, program: string): Promise<void> {
  const command = server
    .recipe("pipe")
    .replace("./checkout", program)
    .replace("bunx obs", `${process.execPath} ${CLI}`);
  const env = { OBS_URL: server.url, OBS_TOKEN: server.token, XDG_STATE_HOME: directory };
  await run(["sh", "-euc", command], { directory, env });
}

const python = installed("python");

describe.skipIf(python === null)("Python (skipped where `bun run senders` has not installed it)", () => {
  const interpreter = join(python ?? "", "bin/python");

  test("OpenTelemetry", async () => {
    using work = temporaryDirectory();
    writeFileSync(join(work.path, "checkout.py"), server.recipe("otel-python"));
    const begun = Date.now();
    await runWithOtel(work.path, `exec ${interpreter} checkout.py`);
    expect(await server.entry("hello from python", begun)).toMatchObject({
      ...AN_ERROR_OF_CHECKOUT,
      source: "orders",
    });
  });

  test("logging and python-json-logger, by obs ship", async () => {
    using work = temporaryDirectory();
    writeFileSync(
      join(work.path, "checkout.py"),
      `import logging
from pythonjsonlogger.json import JsonFormatter

logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
logging.getLogger("orders").error("hello from logging")
handler = logging.StreamHandler()
handler.setFormatter(JsonFormatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
logging.getLogger().handlers = [handler]
logging.getLogger("orders").error("hello from json", extra={"orderId": 17})
`,
    );
    const begun = Date.now();
    await pipe(work.path, `${interpreter} checkout.py`);
    const logger = { level: "error", service: "checkout", attrs: { logger: "orders" } };
    expect(await server.entry("hello from logging", begun)).toMatchObject(logger);
    expect(await server.entry("hello from json", begun)).toMatchObject({
      ...logger,
      attrs: { logger: "orders", orderId: 17 },
    });
  });
});

const go = installed("go");

describe.skipIf(go === null)("Go (skipped where `bun run senders` has not installed it)", () => {
  /** Builds a program out of what is there: nothing is fetched. */
  async function build(directory: string, program: string): Promise<void> {
    for (const file of ["go.mod", "go.sum"]) cpSync(join(go ?? "", file), join(directory, file));
    writeFileSync(join(directory, "main.go"), program);
    const env = { GOFLAGS: "-mod=mod", GOPROXY: "off" };
    await run(["go", "build", "-o", "checkout", "."], { directory, env });
  }

  test("OpenTelemetry behind slog", async () => {
    using work = temporaryDirectory();
    await build(work.path, server.recipe("otel-go"));
    const begun = Date.now();
    await runWithOtel(work.path, "exec ./checkout");
    expect(await server.entry("hello from go", begun)).toMatchObject({
      ...AN_ERROR_OF_CHECKOUT,
      source: "orders",
    });
  });

  test("slog, by obs ship", async () => {
    using work = temporaryDirectory();
    await build(
      work.path,
      `package main

import (
	"log/slog"
	"os"
)

func main() {
	slog.New(slog.NewJSONHandler(os.Stdout, nil)).Error("hello from slog in JSON", "orderId", 17)
	slog.New(slog.NewTextHandler(os.Stdout, nil)).Error("hello from slog in text", "orderId", 17)
}
`,
    );
    const begun = Date.now();
    await pipe(work.path, "./checkout");
    expect(await server.entry("hello from slog in JSON", begun)).toMatchObject(AN_ERROR_OF_CHECKOUT);
    expect(await server.entry("hello from slog in text", begun)).toMatchObject(AN_ERROR_OF_CHECKOUT);
  });
});

const java = installed("java");

test.skipIf(java === null)(
  "Java: OpenTelemetry behind Logback (skipped where `bun run senders` has not installed it)",
  async () => {
    using work = temporaryDirectory();
    writeFileSync(join(work.path, "logback.xml"), server.recipe("logback"));
    writeFileSync(join(work.path, "Checkout.java"), server.recipe("otel-java"));
    const begun = Date.now();
    await runWithOtel(work.path, `exec java -cp '${java}/jars/*:.' Checkout.java`);
    expect(await server.entry("hello from java", begun)).toMatchObject({
      ...AN_ERROR_OF_CHECKOUT,
      source: "orders",
    });
  },
);

const ruby = Bun.which("ruby");
const hasGelf = ruby !== null && Bun.spawnSync([ruby, "-e", 'require "gelf"']).success;

test.skipIf(!hasGelf)("Ruby: GELF (skipped where ruby and its gelf are not installed)", async () => {
  const begun = Date.now();
  await run([ruby ?? "", "-e", server.recipe("gelf")]);
  expect(await server.entry("hello from ruby", begun)).toMatchObject(AN_ERROR_OF_CHECKOUT);
});
