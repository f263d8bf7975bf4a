import { setting } from "./setting.ts";
import { gatewayUrl, httpOrigin } from "./values.ts";

/** Where the services are that notifications go through. */
export const NOTIFICATION_SETTINGS = {
  chatDUrl: setting({
    name: "CHAT_D_URL",
    default: "https://api.telegram.org",
    meaning: "Where chat D is, whose bots send messages; its own paths are appended.",
    type: httpOrigin,
  }),
  pagingAUrl: setting({
    name: "PAGING_A_URL",
    default: "https://events.pagerduty.com",
    meaning: "Where paging service A takes events; its own paths are appended.",
    type: httpOrigin,
  }),
  pagingBUrl: setting({
    name: "PAGING_B_URL",
    default: "https://api.opsgenie.com",
    meaning: "Where paging service B takes alerts; its own paths are appended.",
    type: httpOrigin,
  }),
  smsGatewayUrl: setting({
    name: "SMS_GATEWAY_URL",
    defaultText: "none: text messages cannot be sent",
    meaning: "Takes POST `{to, text}` and sends it as a text message.",
    secret: true,
    type: gatewayUrl,
  }),
  voiceGatewayUrl: setting({
    name: "VOICE_GATEWAY_URL",
    defaultText: "none: nobody can be called",
    meaning: "Takes POST `{to, text}`, calls and reads it out.",
    secret: true,
    type: gatewayUrl,
  }),
} as const;
