import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  alertChannelFlags,
  openAlertChannels,
  requireAlertUrls,
  SEALED_CHANNELS,
  sealAlertChannels,
  sealedChannelsOf,
} from "../../src/notify/alert-channels.ts";
import { OutboundPolicy } from "../../src/outbound/outbound-policy.ts";
import { TEST_BOX } from "../harness/ledger.ts";

const STRICT = new OutboundPolicy({ allow: [], allowPrivate: false });

describe("the secret channels of a record", () => {
  const channels = fc.record(
    Object.fromEntries(SEALED_CHANNELS.map((name) => [name, fc.option(fc.string({ maxLength: 40 }))])),
  );

  test("are sealed as one and come back as they were; which are set is known without opening them", () => {
    fc.assert(
      fc.property(channels, (fields) => {
        const given = sealedChannelsOf(fields);
        const { sealed, names } = sealAlertChannels(TEST_BOX, "monitors", given);
        expect(openAlertChannels(TEST_BOX, "monitors", sealed)).toEqual(given);
        expect(names).toEqual(SEALED_CHANNELS.filter((name) => given[name] !== null));
        expect(sealed === null).toBe(names.length === 0);
      }),
    );
  });

  test("do not open in the row of another table", () => {
    const given = sealedChannelsOf({ alertWebhookUrl: "https://hooks.example.com/" });
    const { sealed } = sealAlertChannels(TEST_BOX, "monitors", given);
    expect(() => openAlertChannels(TEST_BOX, "log_alerts", sealed)).toThrow();
  });

  test("are shown as whether they can be used: a bot without its chat cannot", () => {
    expect(Object.values(alertChannelFlags([])).some(Boolean)).toBe(false);
    expect(alertChannelFlags(["alertChatDBotToken"]).hasAlertChatD).toBe(false);
    expect(alertChannelFlags(["alertChatDBotToken", "alertChatDChatId"]).hasAlertChatD).toBe(true);
    expect(Object.values(alertChannelFlags(SEALED_CHANNELS)).every(Boolean)).toBe(true);
  });
});

describe("the URL of an alert", () => {
  const isBlocked = (url: string, policy = STRICT): boolean => {
    try {
      requireAlertUrls(policy, { alertWebhookUrl: url });
      return false;
    } catch (error) {
      expect(error).toMatchObject({ code: "ALERT_URL_BLOCKED", status: 400 });
      return true;
    }
  };

  test("may be a name, whatever it means today, but not one that always means this machine", () => {
    expect(isBlocked("https://internal.example.com/")).toBe(false);
    expect(isBlocked("http://LOCALHOST./")).toBe(true);
    expect(isBlocked("http://x.localhost/")).toBe(true);
    expect(isBlocked("http://localhost.example.com/")).toBe(false);
  });

  test("is blocked in every spelling of an address of this machine", () => {
    const bytes = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255));
    fc.assert(
      fc.property(bytes, ([b, c, d]) => {
        const number = ((127 * 256 + b) * 256 + c) * 256 + d;
        const hex = (value: number): string => value.toString(16).padStart(2, "0");
        for (const host of [
          `127.${b}.${c}.${d}`,
          String(number),
          `0x${number.toString(16)}`,
          `0177.${b}.${c}.${d}`,
          `[::ffff:7f${hex(b)}:${hex(c)}${hex(d)}]`,
          `[64:ff9b::7f${hex(b)}:${hex(c)}${hex(d)}]`,
        ])
          expect([host, isBlocked(`http://${host}:8080/hook`)]).toEqual([host, true]);
      }),
    );
  });

  test("may lead into private networks where the operator says so, and to exactly what the operator names", () => {
    const open = new OutboundPolicy({ allow: ["127.0.0.1"], allowPrivate: true });
    expect(isBlocked("http://192.168.1.4/")).toBe(true);
    expect(isBlocked("http://192.168.1.4/", open)).toBe(false);
    expect(isBlocked("http://127.0.0.1:9/", open)).toBe(false);
    expect(isBlocked("http://localhost:9/", open)).toBe(false);
    expect(isBlocked("http://127.0.0.2/", open)).toBe(true);
    expect(isBlocked("http://169.254.169.254/", open)).toBe(true);
  });
});
