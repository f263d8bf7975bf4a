import type { Sql } from "postgres";
import { Type } from "typebox";
import { normaliseEmail } from "../../../access/email-address.ts";
import type { SecretBox } from "../../../access/secret-box.ts";
import { hashToken, mintLinkToken } from "../../../access/secret-token.ts";
import { ApiError, validationFailed } from "../../../errors.ts";
import { route } from "../../../http/define-route.ts";
import type { Reply, RequestContext } from "../../../http/route.ts";
import { recordId } from "../../../http/stored-values.ts";
import { requireAlertUrl } from "../../../notify/alert-channels.ts";
import type { EnqueueMail } from "../../../notify/mail/outbox.ts";
import { subscriptionMail } from "../../../notify/mail/templates.ts";
import type { OutboundPolicy } from "../../../outbound/outbound-policy.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";
import { FORM_MAX_BYTES } from "../limits.ts";
import { answerOnce, answerPeople } from "../page-answers.ts";
import { type PageReading, requireOpenPage } from "../page-reading.ts";
import { formOf, Page, readForm, SlugParams } from "../public-routes.ts";
import { buttonDocument, sentenceDocument } from "../render.ts";
import { WORDS } from "../words.ts";
import type { ClientQuota } from "./client-quota.ts";
import { takeClientTurn } from "./client-turns.ts";
import { PENDING_MS } from "./limits.ts";
import { confirm, insertPending, isPending, unsubscribe } from "./store.ts";
import type { UnsubscribeLinks } from "./unsubscribe-link.ts";
import { openWebhook, sealWebhook } from "./webhooks.ts";

interface SubscriptionDependencies extends PageReading {
  readonly sql: Sql;
  readonly box: SecretBox;
  /** Where requests may go that anybody has the server send. */
  readonly policy: OutboundPolicy;
  readonly enqueueMail: EnqueueMail;
  readonly quota: ClientQuota;
  readonly links: UnsubscribeLinks;
  readonly now: () => number;
}

const ACTOR = { kind: "job", name: "status-page-subscriptions" } as const;
const PUBLIC = { tag: "Status pages", access: "public" } as const;
const Told = Type.Object({ message: Type.String() });
const Confirmed = Type.Object(
  {
    message: Type.String(),
    secret: Type.Optional(Type.String({ description: "What requests to a webhook are signed with." })),
  },
  { $id: "ConfirmedSubscription" },
);
const ANSWER = { description: "Done", schema: Told, alternatives: { "text/html": Page } } as const;
const TokenQuery = Type.Object({ token: Type.String({ minLength: 1, maxLength: 200 }) });
const CONFIRM = {
  ...PUBLIC,
  path: "/api/v1/status-pages/public/:slug/subscribe/confirm",
  audit: "CONFIRM_STATUS_PAGE_SUBSCRIPTION",
  params: SlugParams,
  query: TokenQuery,
  responses: { 200: { ...ANSWER, schema: Confirmed } },
  errors: ["LINK_INVALID"],
} as const;
const UNSUBSCRIBE = {
  ...PUBLIC,
  path: "/api/v1/status-pages/public/unsubscribe",
  audit: "UNSUBSCRIBE_FROM_STATUS_PAGE",
  query: TokenQuery,
  responses: { 200: ANSWER },
  errors: ["LINK_INVALID"],
} as const;

/** How people ask to be told, say that it was them, and have enough of it. */
export function subscriptionRoutes(deps: SubscriptionDependencies) {
  return [
    route({
      ...PUBLIC,
      method: "POST",
      path: "/api/v1/status-pages/public/:slug/subscribe",
      summary: "Ask to be told what becomes of a status page; the answer is the same for every address",
      audit: "SUBSCRIBE_TO_STATUS_PAGE",
      params: SlugParams,
      body: {
        kind: "json",
        schema: Type.Object(
          {
            email: Type.String({ minLength: 3, maxLength: 254 }),
            webhookUrl: Type.Optional(
              Type.String({
                format: "uri",
                pattern: "^https?://",
                maxLength: 2048,
                description: "Is told instead of the address, which confirms it and hears when it fails.",
              }),
            ),
            monitorIds: Type.Optional(Type.Array(recordId(), { maxItems: 100 })),
          },
          { additionalProperties: false },
        ),
        maxBytes: FORM_MAX_BYTES,
      },
      responses: { 202: { description: "The same for every address", schema: Told } },
      errors: ["PAGE_LOCKED", "NOT_FOUND", "ALERT_URL_BLOCKED"],
      handler: async (context, { params, body }) => {
        await subscribe(deps, context, params.slug, body);
        return { status: 202, body: { message: WORDS.subscribe.done } };
      },
    }),
    route({
      ...PUBLIC,
      method: "POST",
      path: "/status/:slug/subscribe",
      summary: "The form by which people ask to be mailed",
      refusalType: "text/html",
      audit: "SUBSCRIBE_TO_STATUS_PAGE",
      params: SlugParams,
      body: formOf({
        email: Type.String(),
        monitorId: Type.Array(Type.String()),
        webhookUrl: Type.String(),
      }),
      responses: {
        202: { description: "The same for every address", contentType: "text/html", schema: Page },
      },
      errors: ["PAGE_LOCKED", "NOT_FOUND", "ALERT_URL_BLOCKED"],
      handler: (context, { params }) =>
        answerPeople(context, async () => {
          const form = await readForm(context);
          const monitorIds = form.getAll("monitorId").map(Number);
          const [email, webhookUrl] = [form.get("email") ?? "", form.get("webhookUrl") || undefined];
          await subscribe(deps, context, params.slug, { email, monitorIds, webhookUrl });
          return answerOnce(sentenceDocument(WORDS.subscribe.done), 202);
        }),
    }),
    route({
      ...CONFIRM,
      method: "GET",
      summary:
        "Confirm a subscription: a button for people, for scanners open every link; programs act at once",
      handler: async (context, { query }) => {
        if (!wantsPage(context)) return confirmed(deps, context, query.token);
        const isKnown = await askPostgres(() => isPending(deps.sql, hashToken(query.token), deps.now()));
        return isKnown
          ? answerOnce(buttonDocument(WORDS.subscribe.confirm), 200)
          : answerOnce(sentenceDocument(WORDS.subscribe.invalid), 200);
      },
    }),
    route({
      ...CONFIRM,
      method: "POST",
      summary: "Confirm a subscription",
      handler: (context, { query }) => confirmed(deps, context, query.token),
    }),
    route({
      ...UNSUBSCRIBE,
      method: "GET",
      summary: "End a subscription: a button for people; programs act at once",
      handler: (context, { query }) =>
        wantsPage(context)
          ? answerOnce(buttonDocument(WORDS.subscribe.unsubscribe), 200)
          : unsubscribed(deps, context, query.token),
    }),
    route({
      ...UNSUBSCRIBE,
      method: "POST",
      summary: "End a subscription by one request (RFC 8058)",
      handler: (context, { query }) => unsubscribed(deps, context, query.token),
    }),
  ];
}

interface Wish {
  readonly email: string;
  readonly monitorIds?: readonly number[];
  readonly webhookUrl?: string | undefined;
}

/** Says nothing about the address, so that nobody learns who is subscribed. */
async function subscribe(
  deps: SubscriptionDependencies,
  context: RequestContext,
  slug: string,
  { email: address, monitorIds = [], webhookUrl }: Wish,
): Promise<void> {
  const { id: pageId, organizationId, page } = await requireOpenPage(deps, slug, context.request);
  const url = webhookUrl === undefined ? null : webhookOf(webhookUrl, deps.policy);
  const shown = page.groups.flatMap(({ components }) => components.map(({ monitorId }) => monitorId));
  const chosen = monitorIds.length === 0 ? null : shown.filter((id) => monitorIds.includes(id));
  // Nobody who asks for some hears of everything: what they asked for was taken off the page.
  if (chosen?.length === 0)
    throw validationFailed([
      { path: "/monitorIds", code: "custom", message: "is nothing that the page shows" },
    ]);
  const email = normaliseEmail(address);
  if (email === null || !deps.quota.take(context.clientAddress)) return;
  const token = mintLinkToken();
  await context.changeAnonymously(async (change) => {
    const { tx, nowMs } = change;
    if (!(await takeClientTurn(tx, context.clientAddress, nowMs))) return;
    const confirmTokenHash = hashToken(token);
    const webhook = url === null ? null : sealWebhook(deps.box, organizationId, url);
    const wanted = {
      organizationId,
      pageId,
      email,
      monitorIds: chosen,
      webhook,
    };
    if (!(await insertPending(tx, { ...wanted, confirmTokenHash }, nowMs))) return;
    const { mail } = WORDS;
    const name = WORDS.status(page.name);
    const link = `${deps.publicUrl}/api/v1/status-pages/public/${slug}/subscribe/confirm?token=${token}`;
    const message = subscriptionMail({
      to: email,
      subject: mail.confirmSubject(name),
      paragraphs: [
        mail.confirmText(name),
        ...(webhook === null ? [] : [mail.confirmWebhook(webhook.host)]),
        mail.confirmLife,
      ],
      button: { label: WORDS.subscribe.confirm, link },
      closing: mail.confirmClosing,
      unsubscribe: null,
    });
    await deps.enqueueMail(tx, message, nowMs + PENDING_MS);
  });
}

/** Throws VALIDATION_FAILED for what is no address, and ALERT_URL_BLOCKED for one that leads inward. */
function webhookOf(text: string, policy: OutboundPolicy): URL {
  const url = URL.parse(text);
  const path = "/webhookUrl";
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
    throw validationFailed([{ path, code: "custom", message: "is no address of a webhook" }]);
  requireAlertUrl(policy, url.href, path);
  return url;
}

async function confirmed(
  { box }: SubscriptionDependencies,
  context: RequestContext,
  token: string,
): Promise<Reply> {
  const done = await context.changeAnonymously(async (change) => {
    const found = await confirm(change.tx, hashToken(token), change.nowMs);
    if (found === null) return null;
    change.by(found.organizationId, ACTOR).record({ resource: `status-page-subscriber:${found.id}` });
    return found;
  });
  if (done === null && !wantsPage(context)) throw new ApiError("LINK_INVALID", WORDS.subscribe.invalid);
  if (done === null) return sentence(context, WORDS.subscribe.invalid);
  if (done.webhook === null) return sentence(context, WORDS.subscribe.confirmed);
  const { secret } = openWebhook(box, done.organizationId, done.webhook);
  return sentence(context, WORDS.subscribe.signed(secret), { secret });
}

async function unsubscribed(
  { links }: SubscriptionDependencies,
  context: RequestContext,
  token: string,
): Promise<Reply> {
  const id = links.read(token);
  if (id === null) throw new ApiError("LINK_INVALID", WORDS.subscribe.invalid);
  await context.changeAnonymously(async (change) => {
    const organizationId = await unsubscribe(change.tx, id);
    if (organizationId !== null)
      change.by(organizationId, ACTOR).record({ resource: `status-page-subscriber:${id}` });
  });
  // Whoever has ended it already is told the same.
  return sentence(context, WORDS.subscribe.unsubscribed);
}

function sentence(context: RequestContext, message: string, more: object = {}): Reply {
  return wantsPage(context)
    ? answerOnce(sentenceDocument(message), 200)
    : { status: 200, body: { message, ...more } };
}

/**
 * Whether to show a page, and do nothing before its button is pressed: to people, and to what opens the links of their mails for
 * them. That often gives itself out for a browser without asking for a page, or asks for the head alone.
 */
function wantsPage({ request }: RequestContext): boolean {
  const isForPeople = (request.headers.get("accept") ?? "").includes("text/html");
  return isForPeople || request.method === "HEAD" || isBrowser(request);
}

/** What browsers have begun their name with for thirty years, and so whatever wants to be taken for one. */
function isBrowser(request: Request): boolean {
  return (request.headers.get("user-agent") ?? "").startsWith("Mozilla/");
}
