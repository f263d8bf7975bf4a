import type { Preset } from "./preset.ts";

/** Events of code hosts and of payment providers. */
export const WEBHOOK_PRESETS: readonly Preset[] = [
  {
    // Source: GitHub, audit log events and streaming (@timestamp and created_at in milliseconds, action, actor, org).
    name: "github-audit",
    title: "GitHub audit log",
    description: "The audit log of an organisation or enterprise, streamed or exported as JSON.",
    format: "json",
    mapping: {
      timestamp: { from: "@timestamp", fromDefault: "created_at", parse: "epoch_ms" },
      fields: {
        level: { const: "info" },
        service: { const: "github" },
        event_id: { from: "_document_id" },
      },
      messageTemplate: "{action} by {actor} {repo}{user}",
    },
    sample: {
      "@timestamp": 1772619330123,
      _document_id: "zFyAn2Z1Gk4bqyYw3D6p8Q",
      action: "protected_branch.policy_override",
      actor: "sam-example",
      actor_ip: "203.0.113.9",
      created_at: 1772619330123,
      org: "example-shop",
      repo: "example-shop/web",
      operation_type: "modify",
    },
    signs: ["_document_id", "action", "actor"],
  },
  {
    // Source: GitHub, webhook payloads (sender, repository, action; head_commit of push has the only time of its own).
    name: "github-webhook",
    title: "GitHub webhooks",
    description: "Repository webhooks with content type application/json. Only pushes carry a time.",
    format: "json",
    mapping: {
      timestamp: { from: "head_commit.timestamp", parse: "iso" },
      fields: {
        level: { const: "info" },
        service: { from: "repository.full_name", default: "github" },
      },
      messageTemplate: "{action} {ref} {head_commit.message} by {sender.login}",
    },
    sample: {
      ref: "refs/heads/main",
      before: "6113728f27ae82c7b1a177c8d03f9e96e0adf246",
      after: "59b20b8d5c6ff8d09518216e87f1d2f2b2e7bf24",
      repository: { id: 35129377, full_name: "example-shop/web", private: true },
      pusher: { name: "sam-example" },
      sender: { login: "sam-example", type: "User" },
      head_commit: { id: "59b20b8d", message: "Fix the cart", timestamp: "2026-03-04T11:15:30+01:00" },
    },
    signs: ["repository.full_name", "sender.login"],
  },
  {
    // Source: GitLab, audit event streaming schema (id, author_id, entity_path, details, created_at, event_type).
    name: "gitlab-audit",
    title: "GitLab audit events",
    description: "Audit event streaming to an HTTP destination.",
    format: "json",
    mapping: {
      timestamp: { from: "created_at", parse: "iso" },
      fields: {
        message: { from: "details.custom_message", fromDefault: "event_type" },
        level: { const: "info" },
        service: { const: "gitlab" },
        event_id: { from: "id" },
      },
      messageTemplate: "{details.add}{details.change}{details.remove} {details.target_details}",
    },
    sample: {
      id: "aa0c5e2f-7b1d-4c3a-9e8f-2d4b6a8c0e1f",
      author_id: 12,
      entity_id: 29,
      entity_type: "Project",
      event_type: "update_approval_rules",
      details: {
        author_name: "Sam Example",
        target_type: "MergeRequest",
        target_details: "merge request title",
        custom_message: "Changed approval rule",
        ip_address: "203.0.113.9",
        entity_path: "example-shop/web",
      },
      ip_address: "203.0.113.9",
      created_at: "2026-03-04T10:15:30.931Z",
    },
    signs: ["author_id", "entity_type", "details.target_type"],
  },
  {
    // Source: GitLab, webhook events (object_kind; push has commits and no time of its own).
    name: "gitlab-push",
    title: "GitLab push webhook",
    description: "Push and tag events; the time is that of the first commit listed.",
    format: "json",
    mapping: {
      timestamp: { from: "commits.0.timestamp", parse: "iso" },
      fields: {
        level: { const: "info" },
        service: { from: "project.path_with_namespace", default: "gitlab" },
      },
      messageTemplate: "{object_kind} {ref} by {user_username}: {commits.0.title}",
    },
    sample: {
      object_kind: "push",
      ref: "refs/heads/main",
      checkout_sha: "da1560886d4f094c3e6c9ef40349f7d38b5d27d7",
      user_username: "sam-example",
      project: { id: 15, name: "web", path_with_namespace: "example-shop/web" },
      commits: [{ id: "da156088", title: "Fix the cart", timestamp: "2026-03-04T11:15:30+01:00" }],
      total_commits_count: 1,
    },
    signs: ["object_kind", "checkout_sha", "project.path_with_namespace"],
  },
  {
    // Source: Stripe API reference, the Event object (created in seconds, type, data.object, livemode).
    name: "stripe-events",
    title: "Stripe events",
    description: "Event objects of a webhook endpoint.",
    format: "json",
    mapping: {
      timestamp: { from: "created", parse: "epoch_s" },
      fields: {
        message: { from: "type", default: "" },
        level: {
          from: "type",
          map: {
            "charge.failed": "warn",
            "charge.dispute.created": "warn",
            "invoice.payment_failed": "warn",
            "payment_intent.payment_failed": "warn",
            "payout.failed": "error",
          },
          default: "info",
        },
        service: { const: "stripe" },
        event_id: { from: "id" },
        type: { from: "type" },
      },
    },
    sample: {
      id: "evt_1MqqbKLt4dXK03v5qaIbiNCC",
      object: "event",
      api_version: "2026-01-28",
      created: 1772619330,
      type: "invoice.payment_failed",
      livemode: true,
      pending_webhooks: 1,
      data: { object: { id: "in_1MqqbJ", object: "invoice", amount_due: 4200, currency: "eur" } },
    },
    signs: [{ path: "object", value: /^event$/ }, { path: "id", value: /^evt_/ }, "livemode"],
  },
];
