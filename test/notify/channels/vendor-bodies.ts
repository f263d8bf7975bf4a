import { type TSchema, Type } from "typebox";

/**
 * What the services take, as their references have it: members, enumerations and the sizes of texts. Where a reference says
 * "characters" and not which, the strictest reading is taken: UTF-16 units, of which no way of counting finds more.
 */

const text = (maxUnits: number, minUnits = 1): TSchema =>
  Type.Refine(
    Type.String(),
    (value) => value.isWellFormed() && value.length <= maxUnits && value.trim().length >= minUnits,
  );

const exactly = (members: Record<string, TSchema>) => Type.Object(members, { additionalProperties: false });

const Link = (maxUnits: number) =>
  Type.Refine(
    Type.String(),
    (value) => value.length <= maxUnits && /^https?:/.test(value) && URL.canParse(value),
  );

/** Messages by incoming webhooks, docs.slack.dev: attachments with blocks. */
const SlackButton = exactly({
  type: Type.Literal("button"),
  text: exactly({ type: Type.Literal("plain_text"), text: text(75) }),
  url: Link(3000),
});
/** `&`, `<` and `>` are control characters of mrkdwn. */
const Mrkdwn = Type.Refine(
  text(3000),
  (value) => !/[<>]|&(?!(?:amp|lt|gt);|[a-z]{0,3}…)/.test(String(value)),
);
const SlackBlock = Type.Union([
  exactly({
    type: Type.Literal("header"),
    text: exactly({
      type: Type.Literal("plain_text"),
      text: text(150),
      emoji: Type.Optional(Type.Boolean()),
    }),
  }),
  exactly({ type: Type.Literal("section"), text: exactly({ type: Type.Literal("mrkdwn"), text: Mrkdwn }) }),
  exactly({
    type: Type.Literal("actions"),
    elements: Type.Array(SlackButton, { minItems: 1, maxItems: 25 }),
  }),
]);
export const SlackMessage = exactly({
  text: Type.Refine(text(40_000), (value) => !/[<>]/.test(String(value))),
  attachments: Type.Array(
    exactly({
      color: Type.String({ pattern: "^#[0-9a-f]{6}$" }),
      blocks: Type.Array(SlackBlock, { minItems: 1, maxItems: 50 }),
    }),
    { minItems: 1, maxItems: 1 },
  ),
});

/** Execute Webhook, discord.com/developers: embeds of together 6000 characters. */
const DiscordEmbed = exactly({
  title: text(256),
  description: text(4096, 0),
  color: Type.Integer({ minimum: 0, maximum: 0xff_ff_ff }),
  timestamp: Type.String({ format: "date-time" }),
  url: Type.Optional(Link(2048)),
});
export const DiscordMessage = exactly({
  embeds: Type.Refine(Type.Array(DiscordEmbed, { minItems: 1, maxItems: 10 }), (embeds) => {
    const units: number[] = embeds.map(
      (embed) => `${Object(embed).title}${Object(embed).description}`.length,
    );
    return units.reduce((sum, each) => sum + each, 0) <= 6000;
  }),
  allowed_mentions: exactly({
    parse: Type.Array(Type.Enum(["roles", "users", "everyone"]), { maxItems: 0 }),
  }),
});

/** Adaptive Cards 1.4, adaptivecards.io, in a message of Microsoft Teams. */
const CardBlock = exactly({
  type: Type.Literal("TextBlock"),
  text: text(28_000),
  wrap: Type.Optional(Type.Boolean()),
  size: Type.Optional(Type.Enum(["Default", "Small", "Medium", "Large", "ExtraLarge"])),
  weight: Type.Optional(Type.Enum(["Default", "Lighter", "Bolder"])),
  color: Type.Optional(Type.Enum(["Default", "Dark", "Light", "Accent", "Good", "Warning", "Attention"])),
});
export const TeamsMessage = exactly({
  type: Type.Literal("message"),
  attachments: Type.Array(
    exactly({
      contentType: Type.Literal("application/vnd.microsoft.card.adaptive"),
      contentUrl: Type.Null(),
      content: exactly({
        $schema: Type.Literal("http://adaptivecards.io/schemas/adaptive-card.json"),
        type: Type.Literal("AdaptiveCard"),
        version: Type.Literal("1.4"),
        body: Type.Array(CardBlock, { minItems: 1 }),
        actions: Type.Optional(
          Type.Array(exactly({ type: Type.Literal("Action.OpenUrl"), title: text(100), url: Link(2048) }), {
            minItems: 1,
            maxItems: 6,
          }),
        ),
      }),
    }),
    { minItems: 1, maxItems: 1 },
  ),
});
/** Of the whole message, by Teams' limits and specifications. */
export const TEAMS_MAX_BYTES = 28_000;

/** `sendMessage`, core.telegram.org/bots/api. */
export const TelegramMessage = exactly({
  chat_id: text(64),
  text: text(4096),
  link_preview_options: exactly({ is_disabled: Type.Literal(true) }),
  reply_markup: Type.Optional(
    exactly({
      inline_keyboard: Type.Array(
        Type.Array(exactly({ text: text(64), url: Link(2048) }), { minItems: 1, maxItems: 8 }),
        { minItems: 1, maxItems: 1 },
      ),
    }),
  ),
});

/** Events API v2, developer.pagerduty.com: an alert event. */
export const PagerDutyEvent = exactly({
  routing_key: text(32),
  event_action: Type.Enum(["trigger", "acknowledge", "resolve"]),
  dedup_key: text(255),
  client: Type.Optional(text(255)),
  client_url: Type.Optional(Link(2048)),
  links: Type.Optional(Type.Array(exactly({ href: Link(2048), text: text(255) }))),
  payload: exactly({
    summary: text(1024),
    source: text(255),
    severity: Type.Enum(["critical", "error", "warning", "info"]),
    timestamp: Type.String({ format: "date-time" }),
    custom_details: Type.Object({ text: Type.String() }),
  }),
});
/** Of the whole event. */
export const PAGERDUTY_MAX_BYTES = 512 * 1024;

/** Alert API v2, docs.opsgenie.com: creating, and what acknowledging and closing take. */
export const OpsgenieAlert = exactly({
  message: text(130),
  alias: text(512),
  description: text(15_000, 0),
  source: text(100),
  priority: Type.Enum(["P1", "P2", "P3", "P4", "P5"]),
});
export const OpsgenieAction = exactly({ source: text(100), note: text(25_000) });
