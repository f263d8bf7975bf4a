import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { barsOf, daysUntil, roundedDown } from "../../../src/domains/status-pages/bars.ts";
import { contrast, readableOn } from "../../../src/domains/status-pages/colours.ts";
import { html } from "../../../src/domains/status-pages/html.ts";
import { STATE_COLOURS } from "../../../src/domains/status-pages/style.ts";

const GROUNDS = ["#ffffff", "#14171a"];
const NOW_MS = Date.parse("2026-03-08T12:00:00Z");
const DAY_MS = 24 * 60 * 60 * 1000;

describe("colours", () => {
  test("whatever an organisation chooses can be read by day and by night, and stays if it can", () => {
    const colour = fc
      .integer({ min: 0, max: 0xffffff })
      .map((value) => `#${value.toString(16).padStart(6, "0")}`);
    fc.assert(
      fc.property(colour, fc.constantFrom(...GROUNDS), (wanted, ground) => {
        const shown = readableOn(wanted, ground);
        expect(contrast(shown, ground)).toBeGreaterThanOrEqual(4.5);
        if (contrast(wanted, ground) >= 4.5) expect(shown).toBe(wanted);
      }),
    );
  });

  test("of every state can be read on both grounds", () => {
    for (const { light, dark } of Object.values(STATE_COLOURS)) {
      expect(contrast(light, "#ffffff")).toBeGreaterThanOrEqual(4.5);
      expect(contrast(dark, "#14171a")).toBeGreaterThanOrEqual(4.5);
    }
  });
});

describe("bars", () => {
  test("a day is as bad as the worst of it outside of announced work, and unknown before anything was watched", () => {
    const span = daysUntil(NOW_MS, 3);
    const downFrom = NOW_MS - DAY_MS - 3_600_000;
    const periods = [
      { status: "up", fromMs: NOW_MS - DAY_MS - 7_200_000, toMs: downFrom },
      { status: "down", fromMs: downFrom, toMs: downFrom + 1_800_000 },
      { status: "up", fromMs: downFrom + 1_800_000, toMs: null },
    ] as const;
    const states = (maintenance: { fromMs: number; toMs: number }[]) =>
      barsOf(periods, maintenance, span).map(({ date, state }) => `${date} ${state}`);
    expect(states([])).toEqual(["2026-03-06 unknown", "2026-03-07 down", "2026-03-08 operational"]);
    expect(states([{ fromMs: downFrom, toMs: downFrom + 1_800_000 }])[1]).toBe("2026-03-07 operational");
  });

  test("a percentage is rounded down, so that 100 means no downtime at all", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000 }), (value) => {
        const percent = value / 10_000;
        expect(roundedDown(percent)).toBeLessThanOrEqual(percent);
        expect(percent - roundedDown(percent)).toBeLessThan(0.010_001);
      }),
    );
    expect([roundedDown(100), roundedDown(99.9999)]).toEqual([100, 99.99]);
  });
});

test("text in a template never becomes markup", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const { text: made } = html`<p title="${text}">${text}</p>`;
      expect(made.match(/[<>"]/g)?.join("")).toBe('<""><>');
    }),
  );
});
