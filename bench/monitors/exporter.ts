import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "../../src/storage/embedded/free-port.ts";
import { eventually } from "../../test/harness/eventually.ts";
import { usageBetween, usageOfTree } from "../ingest/process-usage.ts";

/** What the reference did with as many probes a second as the server made checks. */
interface ExporterTurn {
  readonly probes: number;
  readonly checksPerCoreSecond: number;
}

/**
 * The reference: Prometheus' blackbox exporter, which checks when it is asked and stores nothing. Who asks it is not
 * counted. Null where it is not installed.
 */
export async function runExporter(
  target: string,
  perSecond: number,
  seconds: number,
): Promise<ExporterTurn | null> {
  const program = Bun.which("prometheus-blackbox-exporter") ?? Bun.which("blackbox_exporter");
  if (program === null) return null;
  const directory = mkdtempSync(join(tmpdir(), "obs-bench-exporter-"));
  const config = join(directory, "blackbox.yml");
  writeFileSync(
    config,
    "modules:\n  web:\n    prober: http\n    timeout: 5s\n    http:\n      preferred_ip_protocol: ip4\n",
  );
  const port = await findFreePort();
  const child = Bun.spawn(
    [program, `--config.file=${config}`, `--web.listen-address=127.0.0.1:${port}`, "--log.level=error"],
    { stdout: "ignore", stderr: "ignore" },
  );
  const url = `http://127.0.0.1:${port}`;
  try {
    await eventually("the exporter answers", () =>
      fetch(`${url}/-/healthy`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    const before = usageOfTree(child.pid);
    const probes = await askAtRate(`${url}/probe?module=web&target=${encodeURIComponent(target)}`, {
      perSecond,
      seconds,
    });
    const usage = Object.values(usageBetween(before, usageOfTree(child.pid)));
    const cpuSeconds = usage.reduce((sum, role) => sum + role.cpuSeconds, 0);
    return { probes, checksPerCoreSecond: Math.round(probes / cpuSeconds) };
  } finally {
    child.kill();
    await child.exited;
    rmSync(directory, { recursive: true, force: true });
  }
}

async function askAtRate(
  url: string,
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
): Promise<number> {
  const beganMs = performance.now();
  const total = perSecond * seconds;
  let succeeded = 0;
  const asked: Promise<void>[] = [];
  for (let index = 0; index < total; index++) {
    const dueMs = beganMs + (index * 1000) / perSecond;
    if (dueMs > performance.now()) await Bun.sleep(dueMs - performance.now());
    asked.push(
      fetch(url)
        .then((answer) => answer.text())
        .then((text) => {
          if (/^probe_success 1$/m.test(text)) succeeded += 1;
        }),
    );
  }
  await Promise.all(asked);
  return succeeded;
}
