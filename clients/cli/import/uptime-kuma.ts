import { Database, SQLiteError } from "bun:sqlite";
import { CliError } from "../cli-error.ts";
import { KUMA_ROWS_MAX } from "../limits.ts";
import { ForeignRecord } from "./foreign-record.ts";
import { Imported } from "./imported.ts";
import { type KumaChannel, kumaChannels } from "./uptime-kuma-channels.ts";
import { addKumaMonitor } from "./uptime-kuma-monitor.ts";

/**
 * Reads the SQLite file of Uptime Kuma 1 or 2 (`db/knex_init_db.js` and its migrations name the tables), which is not changed.
 * Throws CliError for a file that is none.
 */
export function readUptimeKuma(path: string): Imported {
  const database = openDatabase(path);
  const imported = new Imported();
  try {
    const rows = new KumaTables(database);
    const monitors = rows.of("monitor");
    if (monitors.length === 0 && !rows.has("monitor"))
      throw new CliError(`${path} is no database of Uptime Kuma: it has no monitors`);
    const names = new Map(monitors.map((row) => [row.number("id"), row.text("name")]));
    const tags = tagsOfMonitors(rows);
    const channels = channelsOfMonitors(rows, imported);
    const certificates = new Set<string>();
    const keys = new Map<number, string>();
    for (const row of monitors) {
      const id = row.number("id") ?? 0;
      const added = addKumaMonitor(row, imported, {
        ...{ tags: tags.get(id) ?? [], channels: channels.get(id) ?? [], certificates },
        parent: names.get(row.number("parent")) ?? null,
      });
      if (added !== null) keys.set(id, added);
    }
    addMaintenance(rows, imported, keys);
    addStatusPages(rows, imported, keys);
    if (monitors.some((row) => row.has("domain_expiry_notification")))
      imported.leaveOut("monitors", "the end of domains: no check looks at it");
    if (rows.of("proxy").length > 0) imported.leaveOut("monitors", "proxies: checks go out as they are");
    return imported;
  } catch (error) {
    if (error instanceof SQLiteError)
      throw new CliError(`${path} cannot be read: ${error.message}`, { cause: error });
    throw error;
  } finally {
    database.close();
  }
}

function openDatabase(path: string): Database {
  try {
    const database = new Database(path, { readonly: true, strict: true });
    database.query("SELECT count(*) FROM sqlite_master").get();
    return database;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CliError(`${path} cannot be opened as a database of SQLite: ${why}`, { cause: error });
  }
}

/** The tables that there are in this version. */
class KumaTables {
  readonly #database: Database;
  readonly #names: ReadonlySet<unknown>;

  constructor(database: Database) {
    this.#database = database;
    const found = database.query("SELECT name FROM sqlite_master WHERE type = 'table'").values();
    this.#names = new Set(found.map(([name]) => name));
  }

  has(table: KumaTable): boolean {
    return this.#names.has(table);
  }

  of(table: KumaTable): ForeignRecord[] {
    if (!this.has(table)) return [];
    const rows = this.#database
      .query(`SELECT * FROM "${table}" ORDER BY id LIMIT ${KUMA_ROWS_MAX + 1}`)
      .all();
    if (rows.length > KUMA_ROWS_MAX) throw new CliError(`${table} has more than ${KUMA_ROWS_MAX} rows`);
    return rows.map((row) => new ForeignRecord(row));
  }
}

type KumaTable =
  | "monitor"
  | "tag"
  | "monitor_tag"
  | "notification"
  | "monitor_notification"
  | "proxy"
  | "maintenance"
  | "monitor_maintenance"
  | "status_page"
  | "status_page_cname"
  | "group"
  | "monitor_group";

function tagsOfMonitors(rows: KumaTables): Map<number, string[]> {
  const names = new Map(rows.of("tag").map((row) => [row.number("id"), row.text("name")]));
  const tags = new Map<number, string[]>();
  for (const row of rows.of("monitor_tag")) {
    const monitor = row.number("monitor_id") ?? 0;
    const words = [names.get(row.number("tag_id")), row.text("value")].filter(
      (word) => typeof word === "string",
    );
    tags.set(monitor, [...(tags.get(monitor) ?? []), words.join("-")]);
  }
  return tags;
}

function channelsOfMonitors(rows: KumaTables, imported: Imported): Map<number, KumaChannel[]> {
  const channels = new Map<number, KumaChannel>();
  for (const row of rows.of("notification")) {
    const channel = kumaChannels(row);
    channels.set(row.number("id") ?? 0, channel);
    if (channel.problem !== null) imported.leaveOut("monitors", channel.problem);
  }
  const ofMonitors = new Map<number, KumaChannel[]>();
  for (const row of rows.of("monitor_notification")) {
    const channel = channels.get(row.number("notification_id") ?? 0);
    const monitor = row.number("monitor_id") ?? 0;
    if (channel !== undefined) ofMonitors.set(monitor, [...(ofMonitors.get(monitor) ?? []), channel]);
  }
  return ofMonitors;
}

/** Windows that were entered as two times; what comes again has no counterpart. */
function addMaintenance(rows: KumaTables, imported: Imported, keys: ReadonlyMap<number, string>): void {
  const kind = "maintenance-windows";
  const monitors = Map.groupBy(rows.of("monitor_maintenance"), (row) => row.number("maintenance_id"));
  for (const row of rows.of("maintenance")) {
    const title = row.text("title") ?? "maintenance";
    const strategy = row.text("strategy");
    const [startsAt, endsAt] = [utcTime(row.text("start_date")), utcTime(row.text("end_date"))];
    if (strategy !== "single" || startsAt === null || endsAt === null) {
      const cron = row.text("cron");
      const when = cron === null ? "" : ` (${cron}, ${row.text("timezone") ?? "its server's zone"})`;
      imported.leaveOut(
        kind,
        `${title}: ${strategy ?? "no strategy"}${when}; windows are single stretches of time`,
      );
      continue;
    }
    if (!row.flag("active", true)) {
      imported.leaveOut(kind, `${title}: it is switched off`);
      continue;
    }
    const zone = row.text("timezone");
    const notes =
      zone === null || zone === "UTC" ? [] : [`the zone ${zone}: times are read as UTC, look at them`];
    const own = (monitors.get(row.number("id")) ?? []).flatMap(
      (each) => keys.get(each.number("monitor_id") ?? 0) ?? [],
    );
    if (own.length === 0) imported.leaveOut(kind, `${title}: none of its monitors was taken over`);
    for (const monitor of own) {
      const key = imported.keyFor(kind, `${title} ${monitor}`);
      imported.add(kind, key, { title, startsAt, endsAt, monitorId: { ref: `monitors/${monitor}` } }, notes);
    }
  }
}

/** `2025-01-31 22:00:00` as SQLite has it. */
function utcTime(text: string | null): string | null {
  if (text === null) return null;
  const ms = Date.parse(/[Zz]|[+-]\d\d:\d\d$/.test(text) ? text : `${text.replace(" ", "T")}Z`);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

function addStatusPages(rows: KumaTables, imported: Imported, keys: ReadonlyMap<number, string>): void {
  const kind = "status-pages";
  const groups = Map.groupBy(rows.of("group"), (row) => row.number("status_page_id"));
  const members = Map.groupBy(rows.of("monitor_group"), (row) => row.number("group_id"));
  const hosts = Map.groupBy(rows.of("status_page_cname"), (row) => row.number("status_page_id"));
  const weightOf = (row: ForeignRecord): number => row.number("weight") ?? 0;
  for (const row of rows.of("status_page")) {
    const [name, slug] = [row.text("title") ?? "Status", row.text("slug") ?? "status"];
    const notes: string[] = [];
    const said = slug
      .toLowerCase()
      .replaceAll(/[^a-z0-9-]+/g, "-")
      .replace(/^-+/, "")
      .padEnd(2, "0")
      .slice(0, 63);
    if (said !== slug) notes.push(`the slug ${slug}; it is ${said}`);
    const shown = new Set<string>();
    const ownGroups = (groups.get(row.number("id")) ?? [])
      .toSorted((left, right) => weightOf(left) - weightOf(right))
      .map((group) => {
        const own = (members.get(group.number("id")) ?? [])
          .toSorted((left, right) => weightOf(left) - weightOf(right))
          .flatMap((member) => keys.get(member.number("monitor_id") ?? 0) ?? []);
        for (const key of own) shown.add(key);
        return {
          name: group.text("name") ?? "Services",
          monitorIds: own.map((key) => ({ ref: `monitors/${key}` })),
        };
      });
    const [host, ...otherHosts] = (hosts.get(row.number("id")) ?? []).flatMap(
      (each) => each.text("domain") ?? [],
    );
    if (otherHosts.length > 0) notes.push(`the hosts ${otherHosts.join(", ")}: a page has one`);
    if (row.has("password")) notes.push("the password: set it anew with PUT /status-pages/ID/password");
    for (const part of ["footer_text", "custom_css", "icon", "google_analytics_tag_id", "analytics_id"])
      if (row.has(part) && row.text(part) !== "/icon.svg") notes.push(part);
    const description = row.text("description");
    imported.add(
      kind,
      imported.keyFor(kind, slug),
      {
        ...{ name, slug: said, isPublic: row.flag("published", true), description, customDomain: host },
        monitorIds: [...shown].map((key) => ({ ref: `monitors/${key}` })),
        groups: ownGroups,
      },
      notes,
    );
  }
}
