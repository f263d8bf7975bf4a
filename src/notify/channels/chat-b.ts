import { atMost, type HttpChannel, hostOf, jsonPost } from "./channel.ts";
import { COLOURS } from "./colours.ts";
import type { TargetOf } from "./target.ts";

/** Of an embed, as Discord's reference has it. */
const TITLE_MAX_CHARS = 256;
const DESCRIPTION_MAX_CHARS = 4096;

/** A webhook of Discord: one embed, in which nobody is mentioned whatever the text says. */
export const chatB: HttpChannel<TargetOf<"chatB">> = {
  lane: ({ url }) => hostOf(url),
  request: ({ url }, { title, lines, at, tone, link, acknowledgeLink }) => {
    const text = lines.map(escaped).join("\n");
    const action = acknowledgeLink === null ? "" : `\n[Acknowledge](${acknowledgeLink})`;
    const embed = {
      title: atMost(escaped(title), TITLE_MAX_CHARS),
      description: `${atMost(text, DESCRIPTION_MAX_CHARS - action.length)}${action}`,
      color: COLOURS[tone].rgb,
      timestamp: at,
      ...(link !== null && { url: link }),
    };
    return jsonPost(url, { embeds: [embed], allowed_mentions: { parse: [] } });
  },
};

/** Characters that begin formatting, links or mentions. */
function escaped(text: string): string {
  return text.replace(/[\\*_~`|>#[\]()<@]/g, "\\$&");
}
