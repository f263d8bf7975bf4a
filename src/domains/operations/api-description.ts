import type { DocumentHead } from "../../http/openapi/document.ts";

/** In one sentence and without quotation marks: it stands in an attribute of a page. */
export const API_SUMMARY = "Logs in, durable before they are acknowledged; searched with KQL a second later.";

/** What the OpenAPI document says besides the routes, of a server that is reached under this address. */
export function apiDescription(serverUrl: string): DocumentHead {
  return {
    serverUrl,
    description: introduction(serverUrl),
    license: { name: "All rights reserved", identifier: "LicenseRef-all-rights-reserved" },
    tags: TAGS,
  };
}

/** In the order in which a newcomer needs them. */
const TAGS = {
  Logs: "Store log entries, search them, query them with KQL, follow them live, and say how long they are kept.",
  KQL: "What of the Kusto Query Language is understood.",
  "Log alerts":
    "Be told when there are too many entries of a kind, or unusually many, and see beforehand what would have been told.",
  Detections: "What rules have found, whether or not anybody was told.",
  Silences: "Say of what nobody is to be told for a while.",
  "Log errors":
    "Errors in the logs, put together as faults by what failed where: how often, since when, in which release.",
  "Log metrics": "Count entries of a kind, minute by minute, and keep the counts.",
  "Metric alerts": "Be told when a number is too large or too small.",
  Metrics: "Read numbers over time: those that entries carry, counts, and what monitors found.",
  "Correlation rules":
    "Be told of entries that have to do with each other: steps in their order, or many different values of a field.",
  "Saved searches": "Keep questions about logs under a name.",
  "Ingest sources":
    "Name the senders of records in formats of their own, say how records become entries, and deal with those that did not.",
  "Ingest rules": "Drop, sample and mask entries before anything of them is stored.",
  "Log receivers":
    "Store what other systems send: OpenTelemetry, Elasticsearch bulk, Grafana Loki, Splunk HTTP Event Collector.",
  Notifications: "Say whom alerts reach.",
  "On-call": "Say who is on call when, and find when nobody is.",
  Escalation: "Say whom an incident reaches, one after the other, until somebody answers.",
  "Security records":
    "Say which machines and people there are, and which addresses, domains and hashes are looked for in every entry.",
  Context: "What is known of a machine, an address, a person, and what had to do with it.",
  Incidents: "What was or is wrong, what happened to it, and what people do about it.",
  "AI agents": "Read what agents called, what it cost, and what is noticeable about them.",
  Cases:
    "Keep together what was found about something: incidents, notes and evidence that stays when logs go.",
  "Alerts of others": "Take in what Alertmanager, Grafana and other systems raise, as incidents.",
  Monitors:
    "Say what is watched, how often and whom it concerns; read what was found, uptime and objectives.",
  Heartbeats: "Where jobs say that they live, that they begin and how they ended.",
  Probes: "Where probes in other regions hear what they are to check, and say what they found.",
  "Status pages": "Tell everyone how things are: pages, feeds, badges, and who has asked to be told.",
  Maintenance: "Announce work: monitors go on, nobody is told, and objectives do not count it.",
  Account: "The caller: access tokens, password, organisations, linked identity providers, single sign-on.",
  Authentication: "Register, sign in and out, second factors, mailed links, identity providers.",
  Organisation: "Members, invites, the secret of webhooks, counts at a glance, and all data to take away.",
  Configuration:
    "Everything that is set up as files, and how it becomes what they say: compared first, then all of it or nothing.",
  Audit: "Who changed what, and the proof that nothing was changed afterwards.",
  Operations: "Health, metrics, versions and this description.",
};

const introduction = (url: string): string => `${API_SUMMARY}

## Get a token

Every call carries a token: \`Authorization: Bearer obs_...\`. The command line, run beside the server, makes an account and keeps
a token for its own commands:

\`\`\`sh
bunx obs login --register
\`\`\`

Over HTTP: register, then make a token with the session that this begins. The answer shows the token once. Later it is
\`/api/v1/auth/login\` in place of \`register\`, with the same body.

\`\`\`sh
export OBS=${url}
curl $OBS/api/v1/auth/register -c session \\
  -H 'Content-Type: application/json' \\
  -d '{"email": "ana@example.com",
       "password": "correct horse battery"}'

curl $OBS/api/v1/me/tokens -b session \\
  -H "Origin: $OBS" \\
  -H 'Content-Type: application/json' \\
  -d '{"name": "first",
       "scopes": ["logs:read", "logs:write"]}'
export OBS_TOKEN=obs_...
\`\`\`

## Send a first log

\`202\` means that it is on disk.

\`\`\`sh
curl $OBS/api/v1/logs/ingest \\
  -H "Authorization: Bearer $OBS_TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d '{"message": "disk full", "level": "error",
       "service": "api", "attrs": {"disk": "sda1"}}'
\`\`\`

A whole file: \`bunx obs ship app.log\`.

## Find it

\`\`\`sh
curl "$OBS/api/v1/logs/search?q=disk&level=error" \\
  -H "Authorization: Bearer $OBS_TOKEN"
\`\`\`

Or \`bunx obs search disk --level error\`. On this page, a token under *Authentication* lets *Test Request* send any call.

## For every call

**Errors.** Every answer that is neither 2xx nor a redirect is an \`Error\`; programs branch on its \`code\`. The listener's own
refusals have no body: 431 for a request whose address and headers are too long to be read, beyond about 16 KiB or 190 lines, and 400
or 505 for what is no request of HTTP.

**Limits.** \`X-RateLimit-*\` headers say how many calls are left in the minute. With 429 and 503, \`Retry-After\` says how many
seconds to wait.

**Repetitions.** A state-changing call with an \`Idempotency-Key\` is executed once, however often it is sent.
`;
