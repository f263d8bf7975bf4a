import { expect, test } from "bun:test";
import { type Part, startParts, stopParts } from "../../src/server/part.ts";

/** A part that says what is asked of it, each a turn of the event loop later, so that what does not wait is seen. */
function reportingPart(name: string, said: string[]): Part {
  const say = (what: string) => async (): Promise<void> => {
    said.push(`${name} begins to ${what}`);
    await new Promise(setImmediate);
    said.push(`${name} has ended to ${what}`);
  };
  return {
    start: say("start"),
    endStreams: say("end streams"),
    endIntake: say("end intake"),
    stop: say("stop"),
    settle: say("settle"),
  };
}

/** The phases in the order in which they began and ended, whichever part it was. */
function phasesOf(said: readonly string[]): string[] {
  const phases = said.map((line) => line.replace(/^\w+ /, ""));
  return phases.filter((phase, index) => phase !== phases[index - 1]);
}

test("parts start one after the other, in the order of their list", async () => {
  const said: string[] = [];
  await startParts([reportingPart("log", said), { routes: [] }, reportingPart("syslog", said)]);
  expect(said).toEqual([
    "log begins to start",
    "log has ended to start",
    "syslog begins to start",
    "syslog has ended to start",
  ]);
});

test("a part that cannot start keeps the later ones from starting", async () => {
  const said: string[] = [];
  const broken: Part = { start: () => Promise.reject(new Error("the port is taken")) };
  await expect(startParts([broken, reportingPart("log", said)])).rejects.toThrow("the port is taken");
  expect(said).toEqual([]);
});

test("a stop ends streams, then all intake, then work, then what is left, each for all parts before the next", async () => {
  const said: string[] = [];
  const listener = reportingPart("listener", said);
  await stopParts([reportingPart("log", said), reportingPart("tails", said)], async () =>
    listener.endIntake?.(),
  );
  expect(phasesOf(said)).toEqual(
    ["end streams", "end intake", "stop", "settle"].flatMap((phase) => [
      `begins to ${phase}`,
      `has ended to ${phase}`,
    ]),
  );
  expect(said.filter((line) => line.startsWith("listener"))).toHaveLength(2);
});
