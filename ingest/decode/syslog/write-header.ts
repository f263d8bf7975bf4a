import type { RecordWriter } from "../../record/record-writer.ts";
import { FACILITY_NAMES, SEVERITY_NAMES, type SyslogMessage } from "./syslog-message.ts";

const encoder = new TextEncoder();
const FACILITY = encoder.encode("syslog.facility");
const SEVERITY = encoder.encode("syslog.severity");
const FACILITIES = FACILITY_NAMES.map((name) => encoder.encode(name));
const SEVERITIES = SEVERITY_NAMES.map((name) => encoder.encode(name));

/** Writes what the header of a message says beside its time, its host and its level. */
export function writeSyslogHeader(writer: RecordWriter, message: SyslogMessage): void {
  const { facility, severity, appName, procId, msgId, sequence } = message;
  if (appName !== null) writer.service(appName);
  if (facility !== null) writeName(writer, FACILITY, FACILITIES[facility]);
  if (severity !== null) writeName(writer, SEVERITY, SEVERITIES[severity]);
  if (procId !== null) writer.attribute("syslog.procid", procId);
  if (msgId !== null) writer.attribute("syslog.msgid", msgId);
  if (sequence !== null) writer.attribute("syslog.sequence", sequence);
  for (const [key, value] of message.structuredData) writer.attribute(key, value);
}

function writeName(writer: RecordWriter, key: Uint8Array, name: Uint8Array | undefined): void {
  if (name !== undefined) writer.attributeBytes(key, 0, key.length, name, 0, name.length, false);
}
