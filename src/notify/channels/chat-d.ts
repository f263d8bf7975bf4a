import { atMost, type HttpChannel, hostOf, jsonPost } from "./channel.ts";
import type { TargetOf } from "./target.ts";

/** Of a message, after its entities are read. */
const TEXT_MAX_CHARS = 4096;

/** `sendMessage` of the Telegram bot API, without any formatting: its text is what it says. */
export const chatD: HttpChannel<TargetOf<"chatD">> = {
  lane: (_target, { chatD: origin }) => hostOf(origin),
  request: ({ botToken, chatId }, { title, lines, link, acknowledgeLink }, { endpoints }) => {
    const buttons = [
      ...(link === null ? [] : [{ text: "Open", url: link }]),
      ...(acknowledgeLink === null ? [] : [{ text: "Acknowledge", url: acknowledgeLink }]),
    ];
    return jsonPost(
      `${endpoints.chatD}/bot${encodeURIComponent(botToken).replaceAll("%3A", ":")}/sendMessage`,
      {
        chat_id: chatId,
        text: atMost([title, ...lines].join("\n"), TEXT_MAX_CHARS),
        link_preview_options: { is_disabled: true },
        ...(buttons.length > 0 && { reply_markup: { inline_keyboard: [buttons] } }),
      },
      { isOperators: true },
    );
  },
};
