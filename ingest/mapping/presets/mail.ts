import type { Preset } from "./preset.ts";

/** What mail services report about the mail they were given. */
export const MAIL_PRESETS: readonly Preset[] = [
  {
    // Source: Postmark developer documentation, bounce, delivery, spam complaint and open webhooks (RecordType, ...At).
    name: "postmark",
    title: "Postmark webhooks",
    description:
      "Bounces, deliveries, spam complaints, opens and clicks. Deliveries have DeliveredAt, bounces BouncedAt.",
    format: "json",
    mapping: {
      timestamp: { from: "BouncedAt", fromDefault: "DeliveredAt", parse: "iso" },
      fields: {
        level: { from: "RecordType", map: { Bounce: "warn", SpamComplaint: "warn" }, default: "info" },
        service: { const: "postmark" },
        RecordType: { from: "RecordType" },
      },
      messageTemplate: "{RecordType} {Email}{Recipient} {Description}",
    },
    sample: {
      RecordType: "Bounce",
      MessageStream: "outbound",
      ID: 4323372036854776,
      Type: "HardBounce",
      TypeCode: 1,
      MessageID: "883953f4-6105-42a2-a16a-77a8eac79483",
      Description: "The server was unable to deliver your message",
      Details: "smtp;550 5.1.1 user unknown",
      Email: "nobody@example.com",
      From: "shop@example.org",
      BouncedAt: "2026-03-04T10:15:30.2735393Z",
    },
    signs: ["RecordType", "MessageID", "MessageStream"],
  },
  {
    // Source: Twilio SendGrid, Event Webhook reference (timestamp in seconds, event, sg_event_id, sg_message_id).
    name: "sendgrid",
    title: "SendGrid Event Webhook",
    description: "The arrays of delivery and engagement events that SendGrid posts.",
    format: "json",
    mapping: {
      timestamp: { from: "timestamp", parse: "epoch_s" },
      fields: {
        level: {
          from: "event",
          map: { bounce: "warn", dropped: "warn", deferred: "warn", spamreport: "warn", blocked: "warn" },
          default: "info",
        },
        service: { const: "sendgrid" },
        event_id: { from: "sg_event_id" },
        event: { from: "event" },
      },
      messageTemplate: "{event} {email} {reason}",
    },
    sample: {
      email: "nobody@example.com",
      timestamp: 1772619330,
      "smtp-id": "<14c5d75ce93.dfd.64b469@mail.example.org>",
      event: "bounce",
      category: ["receipts"],
      sg_event_id: "Ym91bmNlLTAtMTIzNDU2Nzg5MA",
      sg_message_id: "14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.0",
      reason: "550 5.1.1 user unknown",
      status: "5.1.1",
      type: "bounce",
    },
    signs: ["sg_event_id", "sg_message_id", "event"],
  },
  {
    // Source: Mailgun documentation, webhook payloads (event-data with timestamp in fractional seconds, log-level, id).
    name: "mailgun",
    title: "Mailgun webhooks",
    description: "Mailgun's JSON webhooks: {signature, event-data}.",
    format: "json",
    mapping: {
      timestamp: { from: "event-data.timestamp", parse: "epoch_s" },
      fields: {
        level: { from: "event-data.log-level", default: "info" },
        service: { const: "mailgun" },
        event_id: { from: "event-data.id" },
      },
      messageTemplate: "{event-data.event} {event-data.recipient} {event-data.delivery-status.message}",
    },
    sample: {
      signature: { timestamp: "1772619331", token: "c2a1", signature: "4fd0" },
      "event-data": {
        id: "Fs7-5t81S2WisAU5yd0tQg",
        event: "failed",
        severity: "permanent",
        timestamp: 1772619330.437351,
        "log-level": "error",
        recipient: "nobody@example.com",
        "recipient-domain": "example.com",
        "delivery-status": { code: 550, message: "5.1.1 user unknown" },
        message: { headers: { "message-id": "20260304101530.1.A@example.org", subject: "Receipt" } },
      },
    },
    signs: ["event-data.event", "event-data.recipient"],
  },
  {
    // Source: Amazon SES developer guide, event data published to SNS and Firehose (eventType, mail, bounce, ...).
    name: "amazon-ses",
    title: "Amazon SES events",
    description: "Event records of a configuration set, raw (without the envelope of a notification).",
    format: "json",
    mapping: {
      timestamp: { from: "bounce.timestamp", fromDefault: "mail.timestamp", parse: "iso" },
      fields: {
        level: {
          from: "eventType",
          map: {
            Bounce: "warn",
            Complaint: "warn",
            DeliveryDelay: "warn",
            Reject: "error",
            "Rendering Failure": "error",
          },
          default: "info",
        },
        service: { const: "amazon-ses" },
        eventType: { from: "eventType" },
      },
      messageTemplate: "{eventType} {mail.destination.0} {bounce.bounceType}",
    },
    sample: {
      eventType: "Bounce",
      bounce: {
        bounceType: "Permanent",
        bounceSubType: "General",
        bouncedRecipients: [{ emailAddress: "nobody@example.com", status: "5.1.1" }],
        timestamp: "2026-03-04T10:15:30.669Z",
      },
      mail: {
        timestamp: "2026-03-04T10:14:30.012Z",
        source: "shop@example.org",
        messageId: "0102018e0a1b2c3d-61b59c11-000000",
        destination: ["nobody@example.com"],
      },
    },
    signs: ["eventType", "mail.messageId", "mail.timestamp"],
  },
];
