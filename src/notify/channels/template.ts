import { type HttpChannel, hostOf } from "./channel.ts";
import type { Notification } from "./notification.ts";
import type { TargetOf } from "./target.ts";

/** What a template may name, between two pairs of braces. */
const VALUES: Readonly<Record<string, (notification: Notification) => string>> = {
  title: ({ title }) => title,
  text: ({ lines }) => lines.join("\n"),
  type: ({ type }) => type,
  tone: ({ tone }) => tone,
  severity: ({ severity }) => severity,
  at: ({ at }) => at,
  link: ({ link }) => link ?? "",
  acknowledgeLink: ({ acknowledgeLink }) => acknowledgeLink ?? "",
  incidentId: ({ incidentId }) => (incidentId === null ? "" : String(incidentId)),
  monitor: ({ monitor }) => monitor?.name ?? "",
};
export const TEMPLATE_NAMES: readonly string[] = Object.keys(VALUES);

const PLACEHOLDER = /\{\{\s*([A-Za-z]+)\s*\}\}/g;

/** Names in a template that mean nothing. */
export function unknownPlaceholders(template: string): string[] {
  return [...template.matchAll(PLACEHOLDER)]
    .map(([, name = ""]) => name)
    .filter((name) => !TEMPLATE_NAMES.includes(name));
}

/**
 * A request made from texts with placeholders, for receivers that nothing else here speaks to: ntfy, Gotify, Matrix,
 * Mattermost. What is put in is escaped as the place needs it: in a body that is JSON as the inside of a JSON string, in a
 * form and in the address as a component of one, in a header as one line.
 */
export const template: HttpChannel<TargetOf<"template">> = {
  lane: ({ url }) => hostOf(url),
  request: ({ url, method, headers, body }, notification) => {
    const contentType = contentTypeOf(headers) ?? "application/json";
    return {
      url: filled(url, notification, component),
      method,
      headers: {
        ...(contentTypeOf(headers) === undefined && { "content-type": "application/json" }),
        ...Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name, filled(value, notification, headerText)]),
        ),
      },
      body: filled(body, notification, fitOf(contentType)),
      isOperators: false,
    };
  },
};

function filled(text: string, notification: Notification, fit: (value: string) => string): string {
  return text.replace(PLACEHOLDER, (whole, name: string) => {
    const value = VALUES[name];
    return value === undefined ? whole : fit(value(notification));
  });
}

function contentTypeOf(headers: Readonly<Record<string, string>>): string | undefined {
  return Object.entries(headers).find(([name]) => name.toLowerCase() === "content-type")?.[1];
}

/** How a text is escaped in a body of a content type; in any other it stands as it is. */
function fitOf(contentType: string): (text: string) => string {
  if (/json/i.test(contentType)) return insideJson;
  return /x-www-form-urlencoded/i.test(contentType) ? component : (text) => text;
}

function component(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function insideJson(text: string): string {
  return JSON.stringify(text.toWellFormed()).slice(1, -1);
}

/** Header values are Latin-1 and one line; what is not is left out rather than refused. */
function headerText(text: string): string {
  return text.replace(/[^\x21-\x7e\xa1-\xff]+/g, " ").trim();
}
