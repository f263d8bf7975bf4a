import { LineRecogniser } from "../../ingest/recognise/index.ts";
import { levelOfText } from "../../ingest/record/levels.ts";
import { readRawLines, readRows } from "../patterns/loghub.ts";

/** What people say of a line; null for what it does not say. */
interface Label {
  /** Without a zone: `2005-12-04T04:47:44.000`. */
  readonly time: string;
  readonly level: ReturnType<typeof levelOfText>;
  readonly service: string | null;
}

/** How many lines of a system were read as people read them. */
export interface Score {
  readonly lines: number;
  readonly time: number;
  readonly level: number;
  readonly service: number;
}

type Row = ReadonlyMap<string, string>;

const MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec";
/** The years of the systems whose lines have none. */
const YEARS: Readonly<Record<string, number>> = { Android: 2017, Linux: 2005, OpenSSH: 2017 };

/** How the columns of each system are put together. Only the two with syslog name a program. */
const LABELS: Readonly<Record<string, (row: Row) => Label>> = {
  Android: (row) => ({ ...levelled(row), time: `2017-${row.get("Date")}T${row.get("Time")}` }),
  Apache: (row) => {
    const [, month = "", day, clock, year] = (row.get("Time") ?? "").split(/ +/);
    return { ...levelled(row), time: `${year}-${monthOf(month)}-${day}T${clock}.000` };
  },
  HDFS: (row) => {
    const [date = "", clock = ""] = [row.get("Date")?.padStart(6, "0"), row.get("Time")?.padStart(6, "0")];
    return { ...levelled(row), time: `20${pairs(date).join("-")}T${pairs(clock).join(":")}.000` };
  },
  Hadoop: dated,
  Zookeeper: dated,
  OpenStack: dated,
  Linux: (row) => ({
    time: syslogTime(row, 2005, "Month", "Date"),
    level: saidLevel(row),
    service: (row.get("Component") ?? "").replace(/:$/, "") || null,
  }),
  OpenSSH: (row) => ({ time: syslogTime(row, 2017, "Date", "Day"), level: saidLevel(row), service: "sshd" }),
};

/** What people say of the lines of a system. */
export function labelsOf(system: string): Label[] {
  const label = LABELS[system];
  if (label === undefined) throw new Error(`nobody says how ${system} is labelled`);
  return readRows(system).map(label);
}

/** What the recogniser says of them. */
export function scoreOf(system: string): Score {
  const entries: Label[] = [];
  const reference = Date.UTC(YEARS[system] ?? 2020, 11, 31);
  const recogniser = new LineRecogniser({ yearReferenceMs: reference });
  const take: Parameters<LineRecogniser["push"]>[1] = ({ time, level, service }) => {
    const millis = time === null ? null : time.seconds * 1000 + Math.floor(time.nanos / 1_000_000);
    entries.push({
      time: millis === null ? "" : new Date(millis).toISOString().slice(0, -1),
      level,
      service,
    });
  };
  recogniser.push(readRawLines(system), take);
  recogniser.end(take);
  return compare(labelsOf(system), entries);
}

/** Compares line by line; a system of which a line was not given at all is compared where its lines are. */
export function compare(labels: readonly Label[], said: readonly (Label | undefined)[]): Score {
  let [time, level, service] = [0, 0, 0];
  for (const [i, label] of labels.entries()) {
    const entry = said[i];
    if (entry === undefined) continue;
    if (entry.time === label.time) time++;
    if (entry.level === label.level) level++;
    if (entry.service === label.service) service++;
  }
  return { lines: labels.length, time, level, service };
}

function levelled(row: Row): Omit<Label, "time"> {
  const word = row.get("Level") ?? "";
  return { level: levelOfText(word), service: null };
}

/** Files of syslog have no level; sshd and others begin what they say with it. */
function saidLevel(row: Row): Label["level"] {
  return levelOfText(/^(error|fatal|warning|notice): /.exec(row.get("Content") ?? "")?.[1] ?? "");
}

function dated(row: Row): Label {
  return { ...levelled(row), time: `${row.get("Date")}T${(row.get("Time") ?? "").replace(",", ".")}` };
}

function syslogTime(row: Row, year: number, month: string, day: string): string {
  return `${year}-${monthOf(row.get(month) ?? "")}-${(row.get(day) ?? "").padStart(2, "0")}T${row.get("Time")}.000`;
}

function monthOf(name: string): string {
  return String(MONTHS.indexOf(name) / 3 + 1).padStart(2, "0");
}

function pairs(digits: string): string[] {
  return [digits.slice(0, 2), digits.slice(2, 4), digits.slice(4, 6)];
}
