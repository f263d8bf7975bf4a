import { chromium } from "playwright-core";
import { quantile } from "../kql/quantile.ts";

const LOADS = 9;
/** Until when the largest paint has to have been seen. */
const WAIT_MS = 30_000;
const LARGEST_PAINT = `new Promise((resolve) => {
  new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime))
    .observe({ type: "largest-contentful-paint", buffered: true });
})`;
const SCREENS = [
  { name: "desktop", width: 1200, height: 900, slowdown: 1 },
  { name: "phone, processor slowed four times", width: 360, height: 740, slowdown: 4 },
] as const;

interface Paints {
  readonly name: string;
  readonly medianMs: number;
  readonly maxMs: number;
}

/** When the largest part of a page was painted, after its navigation began, each time in a browser that has not seen it. */
export async function measurePaints(url: string): Promise<Paints[]> {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  const paints: Paints[] = [];
  for (const { name, width, height, slowdown } of SCREENS) {
    const times: number[] = [];
    for (let load = 0; load < LOADS; load += 1) {
      const context = await browser.newContext({ viewport: { width, height } });
      const page = await context.newPage();
      page.setDefaultTimeout(WAIT_MS);
      const devtools = await context.newCDPSession(page);
      await devtools.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
      await page.goto(url);
      times.push(Number(await page.evaluate(LARGEST_PAINT)));
      await context.close();
    }
    const round = (ms: number) => Number(ms.toFixed(1));
    paints.push({ name, medianMs: round(quantile(times, 0.5)), maxMs: round(Math.max(...times)) });
  }
  await browser.close();
  return paints;
}
