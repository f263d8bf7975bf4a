import type { AttributeColumns } from "./attribute-columns.ts";
import type { ScalarType } from "./scalar-type.ts";

/**
 * How a column lies in ClickHouse. Never null in any form: what an entry left out is the empty value of the type.
 * `plain`: the value itself. `enum`: an Enum8 whose names are the values. `bag`: a Map of texts beside an array
 * with the keys whose text is JSON, where an empty one is null; a key outside that array holds a string as it is.
 */
export type ColumnStorage =
  | { readonly kind: "plain"; readonly column: string }
  | { readonly kind: "enum"; readonly column: string }
  | {
      readonly kind: "bag";
      readonly column: string;
      readonly jsonKeysColumn: string;
      /** Entries that columns of their own hold as well; none when absent. */
      readonly columns?: AttributeColumns;
    };

export interface ColumnSchema {
  /** The public name: that of the field in an entry, and of the column in KQL. */
  readonly name: string;
  readonly type: ScalarType;
  readonly storage: ColumnStorage;
}

interface TableSchema {
  /** The identifier in ClickHouse. */
  readonly table: string;
  /** Holds the organization of a row as UInt32. It has no public name: no query can mention it. */
  readonly organizationColumn: string;
  /** Holds what tells the rows of an organization apart. */
  readonly idColumn: string;
  /** The column of type datetime that a time range bounds, as ClickHouse knows it. */
  readonly timeColumn: string;
  readonly columns: readonly ColumnSchema[];
  /** Names that users bring with them from other products, and the columns they mean. */
  readonly aliases: Readonly<Record<string, string>>;
}

function plain(name: string, type: ScalarType, columnName: string = name): ColumnSchema {
  return { name, type, storage: { kind: "plain", column: columnName } };
}

/** How the attributes of entries lie in `logs`. */
export const ATTRIBUTES = { kind: "bag", column: "attrs", jsonKeysColumn: "attr_json_keys" } as const;

/** What the text of an entry is called in `logs`. */
export const MESSAGE_COLUMN = "message";

/** Every table that a plan can read; `migrations/clickhouse` creates them. */
export const TABLES = {
  logs: {
    table: "logs",
    organizationColumn: "organization_id",
    idColumn: "id",
    timeColumn: "ts",
    columns: [
      plain("ts", "datetime"),
      plain("id", "long"),
      plain("receivedAt", "datetime", "received_at"),
      { name: "level", type: "string", storage: { kind: "enum", column: "level" } },
      plain("service", "string"),
      plain("source", "string"),
      plain("host", "string"),
      plain("message", "string", MESSAGE_COLUMN),
      plain("event_id", "string"),
      plain("traceId", "string", "trace_id"),
      plain("spanId", "string", "span_id"),
      {
        name: "attrs",
        type: "dynamic",
        storage: ATTRIBUTES,
      },
    ],
    aliases: {
      TimeGenerated: "ts",
      Timestamp: "ts",
      timestamp: "ts",
      _time: "ts",
      received_at: "receivedAt",
      SeverityLevel: "level",
      SeverityText: "level",
      severity: "level",
      Level: "level",
      Message: "message",
      Body: "message",
      body: "message",
      Service: "service",
      Host: "host",
      Source: "source",
      trace_id: "traceId",
      TraceId: "traceId",
      span_id: "spanId",
      SpanId: "spanId",
    },
  },
  /** What monitors found: a row for each round of each of them in each region. */
  checks: {
    table: "monitor_checks",
    organizationColumn: "organization_id",
    idColumn: "slot",
    timeColumn: "started_at",
    columns: [
      plain("startedAt", "datetime", "started_at"),
      plain("monitorId", "long", "monitor_id"),
      plain("region", "string"),
      plain("slot", "datetime"),
      { name: "status", type: "string", storage: { kind: "enum", column: "status" } },
      plain("durationMs", "real", "duration_ms"),
      plain("dnsMs", "real", "dns_ms"),
      plain("connectMs", "real", "connect_ms"),
      plain("tlsMs", "real", "tls_ms"),
      plain("firstByteMs", "real", "first_byte_ms"),
      plain("statusCode", "int", "status_code"),
      plain("error", "string"),
      plain("lateMs", "real", "late_ms"),
      plain("inMaintenance", "bool", "in_maintenance"),
      // Of missed ones there is one row for all that follow each other.
      plain("slots", "long"),
    ],
    aliases: {},
  },
} as const satisfies Record<string, TableSchema>;

export type TableName = keyof typeof TABLES;

/** The tables that a query can name, by name. */
export type NamedTables = ReadonlyMap<string, TableName>;

/** What whoever may read logs may name. */
export const LOG_TABLES: NamedTables = new Map([["logs", "logs"]]);

/** What whoever may read monitors besides may name. */
export const EVERY_TABLE: NamedTables = new Map([...LOG_TABLES, ["checks", "checks"]]);
