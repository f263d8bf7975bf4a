import { setting } from "./setting.ts";
import { flag, path } from "./values.ts";

/** What checks of monitors may reach, and with what. */
export const CHECK_SETTINGS = {
  monitorAllowPrivate: setting({
    name: "MONITOR_ALLOW_PRIVATE",
    default: "1",
    meaning:
      "Whether monitors may watch private networks (10.0.0.0/8 and the like); 0 where strangers make monitors. This machine, " +
      "the link and metadata services are opened by `OUTBOUND_ALLOW` only.",
    type: flag,
  }),
  browserPath: setting({
    name: "BROWSER_PATH",
    defaultText: "`chromium` or `google-chrome` on the `PATH`",
    meaning:
      "The Chromium with which monitors of type browser load pages. Without one such a monitor finds nothing out.",
    type: path,
  }),
};
