import { type Static, Type } from "typebox";
import { Settings } from "./types.ts";

export const HeartbeatToken = Type.Object(
  {
    token: Type.String({ examples: ["pTq8Yk0Zr3Vw6Xn1Lc5Bd9Gf2Hj4Ks7Mu-aEoIiOyRw"] }),
    url: Type.String({
      description: "Where heartbeats are sent, by GET, POST or HEAD.",
      examples: ["https://obs.example.com/api/v1/heartbeats/pTq8Yk0Zr3Vw6Xn1Lc5Bd9Gf2Hj4Ks7Mu-aEoIiOyRw"],
    }),
  },
  { $id: "HeartbeatToken" },
);
export type HeartbeatToken = Static<typeof HeartbeatToken>;

/** What a monitor's answer leaves out. */
export const MonitorSecrets = Type.Object(
  {
    headers: Settings.properties.headers,
    body: Settings.properties.body,
    steps: Settings.properties.steps,
    alertWebhookUrl: Settings.properties.alertWebhookUrl,
    alertChatAUrl: Settings.properties.alertChatAUrl,
    alertChatBUrl: Settings.properties.alertChatBUrl,
    alertChatCUrl: Settings.properties.alertChatCUrl,
    alertChatDBotToken: Settings.properties.alertChatDBotToken,
    alertChatDChatId: Settings.properties.alertChatDChatId,
    alertPagingARoutingKey: Settings.properties.alertPagingARoutingKey,
    alertPagingBApiKey: Settings.properties.alertPagingBApiKey,
    alertSmsNumber: Settings.properties.alertSmsNumber,
    alertVoiceNumber: Settings.properties.alertVoiceNumber,
    heartbeatToken: HeartbeatToken.properties.token,
    heartbeatUrl: HeartbeatToken.properties.url,
  },
  { $id: "MonitorSecrets" },
);
export type MonitorSecrets = Static<typeof MonitorSecrets>;
