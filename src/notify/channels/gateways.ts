import { atMost, type ChannelEndpoints, type HttpChannel, hostOf, jsonPost } from "./channel.ts";
import type { TargetOf } from "./target.ts";

/** Two text messages, and what is said in half a minute. */
const SMS_MAX_CHARS = 300;
const VOICE_MAX_CHARS = 400;

/** A gateway of the operator's that takes POST `{to, text}`. */
export const sms: HttpChannel<TargetOf<"sms">> = {
  lane: (_target, { sms: url }) => hostOf(url ?? "sms"),
  request: ({ number }, { title, acknowledgeLink }, { endpoints }) => {
    const action = acknowledgeLink === null ? "" : ` ${acknowledgeLink}`;
    const text = `${atMost(title, SMS_MAX_CHARS - action.length)}${action}`;
    return jsonPost(gateway(endpoints, "sms"), { to: number, text }, { isOperators: true });
  },
};

/** The same for one that calls and reads the text out: no address is said. */
export const voice: HttpChannel<TargetOf<"voice">> = {
  lane: (_target, { voice: url }) => hostOf(url ?? "voice"),
  request: ({ number }, { title }, { endpoints }) =>
    jsonPost(
      gateway(endpoints, "voice"),
      { to: number, text: atMost(title, VOICE_MAX_CHARS) },
      { isOperators: true },
    ),
};

function gateway(endpoints: ChannelEndpoints, kind: "sms" | "voice"): string {
  const url = endpoints[kind];
  if (url === null) throw new Error(`the operator has configured no gateway for ${kind}`);
  return url;
}
