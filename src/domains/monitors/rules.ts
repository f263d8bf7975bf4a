import type { FieldIssue } from "../../errors.ts";
import { pointerTo } from "../../http/json-pointer.ts";
import type { MonitorSettings } from "./types.ts";

/** The name of a header (RFC 9110). */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;

/**
 * What is wrong with a monitor as a whole, whichever of its fields a call gave: an issue stands at the field that is
 * missing or wrong. `at` is the JSON pointer of the monitor.
 */
export function settingsIssues(settings: MonitorSettings, at = ""): FieldIssue[] {
  const { type, port, steps, regions } = settings;
  const issues: FieldIssue[] = [];
  const add = (field: string, message: string): unknown =>
    issues.push({ path: `${at}/${field}`, code: "custom", message });
  if (type === "keyword" && (settings.keyword ?? "") === "") add("keyword", "is needed by the type keyword");
  if ((type === "tcp" || type === "port") && port === null) add("port", `is needed by the type ${type}`);
  if (type === "multi_step" && steps === null) add("steps", "is needed by the type multi_step");
  const isProbed = type === "http" || type === "https";
  if (!isProbed && regions?.some((region) => region !== "local"))
    add("regions", "may name others than local for http and https only");
  for (const name of badNames(settings.headers)) add(`headers${pointerTo(name)}`, "is no name of a header");
  for (const [index, { headers }] of (steps ?? []).entries())
    for (const name of badNames(headers))
      add(`steps/${index}/headers${pointerTo(name)}`, "is no name of a header");
  return issues;
}

function badNames(headers: Readonly<Record<string, string>> | null | undefined): string[] {
  return Object.keys(headers ?? {}).filter((name) => !HEADER_NAME.test(name));
}
