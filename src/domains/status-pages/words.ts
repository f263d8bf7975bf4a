import type { Component, State } from "./types.ts";

/** Every word of the page, its feed and its mails: another language is another object of this form. */
export const WORDS = {
  lang: "en",
  page: {
    down: "Some systems are down",
    degraded: "Some systems are slow",
    maintenance: "Maintenance is going on",
    unknown: "The state is not known",
    operational: "All systems operational",
  } satisfies Record<State, string>,
  component: {
    down: "down",
    degraded: "degraded",
    maintenance: "maintenance",
    unknown: "not known",
    operational: "operational",
  } satisfies Record<State, string>,
  incidentStatus: {
    investigating: "Investigating",
    identified: "Identified",
    monitoring: "Monitoring",
    resolved: "Resolved",
  } as Readonly<Record<string, string>>,
  status: (name: string) => `${name} status`,
  components: "Components",
  lastDays: (days: number) => `The last ${days} days, oldest first`,
  day: ({ date, state, uptimePercent }: Component["days"][number]) =>
    uptimePercent === null || state === "unknown" ? `${date} no data` : `${date} ${uptimePercent} %`,
  uptime: (percent: number, days: number) => `${percent} % in ${days} ${days === 1 ? "day" : "days"}`,
  asOf: "As of",
  stale: "Live data cannot be reached at the moment. This is the state as it was last known.",
  maintenance: "Maintenance",
  running: "going on now",
  scheduled: "scheduled",
  unnamedMaintenance: "Announced work",
  until: "until",
  affects: (names: readonly string[]) => `Concerns: ${names.join(", ")}`,
  incidents: "Incidents",
  noIncidents: "No incidents in the last 90 days.",
  incidentOf: (names: readonly string[]) =>
    names.length === 0 ? "Incident" : `Incident: ${names.join(", ")}`,
  subscribe: {
    heading: "Be told by mail",
    email: "Email address",
    which: "Only about these (none: everything)",
    button: "Subscribe",
    done: "If the address can be used here, a mail with a link is on its way to it.",
    confirm: "Confirm the subscription",
    confirmed: "The subscription is confirmed.",
    signed: (secret: string) =>
      `The subscription is confirmed. Requests are signed as Standard Webhooks has it, with ${secret} (shown this once).`,
    program: "To a program instead",
    webhook: "Webhook address",
    unsubscribe: "Unsubscribe",
    unsubscribed: "Nothing more is sent to you about this page.",
    invalid: "The link is unknown or too old.",
  },
  locked: {
    heading: "This page has a password",
    password: "Password",
    button: "Open",
    wrong: "That is not the password.",
  },
  refused: {
    UNAVAILABLE: "This cannot be done at the moment. Please try again in a minute.",
    RATE_LIMITED: "That was too often. Please wait a while before you try again.",
  },
  missing: "There is no such page",
  feed: "Atom feed",
  badge: "Badge",
  mail: {
    confirmSubject: (page: string) => `Confirm: be told about ${page}`,
    confirmText: (page: string) =>
      `Somebody, probably you, asked that this address be told what becomes of ${page}.`,
    confirmLife: "The link works for 48 hours. Until it is opened and confirmed, nothing more is sent.",
    confirmClosing: "If it was not you, ignore this mail.",
    confirmWebhook: (host: string) => `It is to be told by requests to ${host}.`,
    endedSubject: (page: string) => `Nothing more is sent about ${page}`,
    endedText: (host: string, page: string) =>
      `${host} was to be told what becomes of ${page}, and did not take it several times. The subscription has ended.`,
    open: "Open the page",
    closing: "You get this because you subscribed.",
  },
} as const;
