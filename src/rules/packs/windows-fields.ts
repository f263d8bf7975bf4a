import type { SampleEntry } from "./pack.ts";

/** What sends events of Windows. */
export const WINDOWS_SOURCES =
  "Windows events or Sysmon, by a source with one of the presets winlogbeat, nxlog-windows, windows-event-json, sysmon and log-analytics-windows";

/** Shippers put the data of an event at the top, below `winlog.event_data`, or as a text of JSON into `EventData`. */
const places = (field: string): readonly string[] => [field, `winlog.event_data.${field}`];

/** That a field of an event holds one of some texts, none of which has a backslash, which JSON writes twice. */
export function holds(field: string, ...texts: readonly [string, ...string[]]): string {
  const tests = texts.map((text) => `contains ${JSON.stringify(text)}`);
  const plain = places(field).flatMap((place) => tests.map((test) => `${place} ${test}`));
  const inText = tests.map((test) => `tostring(parse_json(tostring(EventData)).${field}) ${test}`);
  return `(${[...plain, ...inText].join(" or ")})`;
}

/** That the command line of a process holds one of some texts; what sensors of machines write has the same name. */
export function runs(...texts: readonly [string, ...string[]]): string {
  return `(${["CommandLine", "winlog.event_data.CommandLine", "EventData"]
    .flatMap((place) => texts.map((text) => `tostring(${place}) contains ${JSON.stringify(text)}`))
    .join(" or ")})`;
}

/** That the number of an event is one of some. */
export function eventIs(...ids: readonly [number, ...number[]]): string {
  const texts = ids.map((id) => `"${id}"`).join(", ");
  return `(EventID in (${ids.join(", ")}) or tostring(winlog.event_id) in (${texts}))`;
}

/** A process that was started, as Sysmon tells of it. */
export function started(commandLine: string, attrs: Readonly<Record<string, unknown>> = {}): SampleEntry {
  return {
    ...{ message: `Process Create ${commandLine}`, service: "sysmon", host: "pc-5" },
    source: "Microsoft-Windows-Sysmon/Operational",
    attrs: { EventID: 1, CommandLine: commandLine, User: "EXAMPLE\\ana", ...attrs },
  };
}

/** An event of the log of security. */
export function event(id: number, attrs: Readonly<Record<string, unknown>> = {}): SampleEntry {
  return {
    ...{ message: `Event ${id}`, service: "Microsoft-Windows-Security-Auditing", host: "pc-5" },
    ...{ source: "Security", attrs: { EventID: id, ...attrs } },
  };
}
