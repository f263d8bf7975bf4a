import type { DocumentHead } from "../../http/openapi/document.ts";

const DESCRIPTION = `Logs in, durable before they are acknowledged; searched with KQL a second later.

**A token.** \`POST /api/v1/auth/register\` makes an account and an organisation and signs in; \`POST /api/v1/auth/login\` signs in
later. Both set the cookie \`session\`. With it, and the header \`Origin\` of this server, \`POST /api/v1/me/tokens\` makes a token:
\`{"name":"shipper","scopes":["logs:write"]}\`. Every other call carries it as \`Authorization: Bearer obs_...\`.

**Errors.** Every answer that is neither 2xx nor a redirect is an \`Error\`; programs branch on its \`code\`. There is one exception:
a request whose address and headers are too long to be read, beyond about 16 KiB, is answered with 431 and no body.

**Limits.** \`X-RateLimit-*\` headers say how many calls are left in the minute. With 429 and 503, \`Retry-After\` says how many
seconds to wait.

**Repetitions.** A state-changing call with an \`Idempotency-Key\` is executed once, however often it is sent.`;

/** What the OpenAPI document says besides the routes. */
export const API_DESCRIPTION: Omit<DocumentHead, "serverUrl"> = {
  description: DESCRIPTION,
  license: { name: "All rights reserved", identifier: "LicenseRef-all-rights-reserved" },
  tags: {
    Logs: "Store log entries, search them, query them with KQL, follow them live, and say how long they are kept.",
    "Log receivers":
      "Store what other systems send: OpenTelemetry, Elasticsearch bulk, Grafana Loki, Splunk HTTP Event Collector.",
    "Ingest sources":
      "Name the senders of records in formats of their own, say how records become entries, and deal with those that did not.",
    KQL: "What of the Kusto Query Language is understood.",
    "Saved searches": "Keep questions about logs under a name.",
    Organisation: "Members, invites, the secret of webhooks, counts at a glance, and all data to take away.",
    Account: "The caller: access tokens, password, organisations, linked identity providers, single sign-on.",
    Authentication: "Register, sign in and out, second factors, mailed links, identity providers.",
    Audit: "Who changed what, and the proof that nothing was changed afterwards.",
    Operations: "Health, metrics, versions and this description.",
  },
};
