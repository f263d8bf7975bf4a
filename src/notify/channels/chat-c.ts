import { atMost, atMostBytes, type HttpChannel, hostOf, jsonPost } from "./channel.ts";
import { COLOURS } from "./colours.ts";
import type { TargetOf } from "./target.ts";

/** Teams refuses messages above 28 kB; what is not the text are some kilobytes. */
const TEXT_MAX_CHARS = 6000;
const TEXT_MAX_BYTES = 18_000;
const TITLE_MAX_CHARS = 256;

/** An incoming webhook of Microsoft Teams: an adaptive card 1.4 in a message. */
export const chatC: HttpChannel<TargetOf<"chatC">> = {
  lane: ({ url }) => hostOf(url),
  request: ({ url }, { title, lines, tone, link, acknowledgeLink }) => {
    const text = atMostBytes(atMost(lines.map(escaped).join("\n\n"), TEXT_MAX_CHARS), TEXT_MAX_BYTES);
    const actions = [
      ...(link === null ? [] : [{ type: "Action.OpenUrl", title: "Open", url: link }]),
      ...(acknowledgeLink === null
        ? []
        : [{ type: "Action.OpenUrl", title: "Acknowledge", url: acknowledgeLink }]),
    ];
    const heading = {
      ...{ type: "TextBlock", size: "Large", weight: "Bolder", wrap: true },
      ...{ color: COLOURS[tone].card, text: escaped(atMost(title, TITLE_MAX_CHARS)) },
    };
    const content = {
      $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
      type: "AdaptiveCard",
      version: "1.4",
      body: [heading, ...(text.trim() === "" ? [] : [{ type: "TextBlock", wrap: true, text }])],
      ...(actions.length > 0 && { actions }),
    };
    const attachment = { contentType: "application/vnd.microsoft.card.adaptive", contentUrl: null, content };
    return jsonPost(url, { type: "message", attachments: [attachment] });
  },
};

/** The Markdown that cards know. */
function escaped(text: string): string {
  return text.replace(/[\\*_[\]()#`-]/g, "\\$&");
}
