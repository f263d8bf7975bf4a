import { atMost, type HttpChannel, hostOf, jsonPost } from "./channel.ts";
import { COLOURS } from "./colours.ts";
import type { TargetOf } from "./target.ts";

/** Of a section and of a header, as Slack's reference of blocks has it, and of what notifications show. */
const SECTION_MAX_CHARS = 3000;
const TEXT_MAX_CHARS = 3000;
const HEADER_MAX_CHARS = 150;

/** An incoming webhook of Slack: blocks, and a text for notifications; `&`, `<` and `>` are its control characters. */
export const chatA: HttpChannel<TargetOf<"chatA">> = {
  lane: ({ url }) => hostOf(url),
  request: ({ url }, notification) => {
    const { title, lines, link, acknowledgeLink } = notification;
    const buttons = [
      ...(link === null ? [] : [button("Open", link)]),
      ...(acknowledgeLink === null ? [] : [button("Acknowledge", acknowledgeLink)]),
    ];
    const text = escaped(lines.join("\n"));
    const blocks = [
      { type: "header", text: { type: "plain_text", text: atMost(title, HEADER_MAX_CHARS), emoji: false } },
      // A section without a text is refused.
      ...(text.trim() === ""
        ? []
        : [
            {
              type: "section",
              text: { type: "mrkdwn", text: atMost(text, SECTION_MAX_CHARS) },
            },
          ]),
      ...(buttons.length === 0 ? [] : [{ type: "actions", elements: buttons }]),
    ];
    return jsonPost(url, {
      text: atMost(escaped(title), TEXT_MAX_CHARS),
      attachments: [{ color: COLOURS[notification.tone].hex, blocks }],
    });
  },
};

function button(text: string, url: string): object {
  return { type: "button", text: { type: "plain_text", text }, url };
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
