import type { ComponentChildren } from "preact";

/** A kind of system whose events are known: how to give it the address, and an example event. */
export interface Sender {
  /** The `sourceType` of its sources. */
  sourceType: string;
  label: string;
  /** Whether the system can send a key as `Authorization: Bearer …`. */
  bringsKey: boolean;
  /** The steps in that system. */
  steps: readonly ComponentChildren[];
  /** A first definition, as an example. */
  example: { name: string; matchingPrompt: string; conditions: string; prompt: string };
  sample: unknown;
}

const github: Sender = {
  sourceType: "github",
  label: "GitHub",
  bringsKey: false,
  steps: [
    <>
      In the repository or organization, open <b>Settings → Webhooks → Add webhook</b>.
    </>,
    <>
      Put the address into <b>Payload URL</b>, and choose <code>application/json</code> as <b>Content type</b>.
    </>,
    <>
      Choose which events are sent, such as <b>Issues</b>, and press <b>Add webhook</b>. Its first call, a ping, is
      listed under Events.
    </>,
  ],
  example: {
    name: "New bugs",
    matchingPrompt: "Somebody opened an issue that reports a bug",
    conditions: 'action = "opened"',
    prompt: "Issue {{payload.issue.number}} was opened: {{payload.issue.title}}. Suggest who should look at it.",
  },
  sample: {
    action: "opened",
    issue: { number: 42, title: "The cart is empty after a reload", body: "Since the update of today." },
    repository: { full_name: "acme/shop" },
  },
};

const stripe: Sender = {
  sourceType: "stripe",
  label: "Stripe",
  bringsKey: false,
  steps: [
    <>
      In Stripe's dashboard, open <b>Developers → Webhooks</b>, and add an endpoint or destination.
    </>,
    <>
      Choose the events, such as <code>invoice.payment_failed</code>.
    </>,
    <>
      Put the address into <b>Endpoint URL</b>, and save.
    </>,
  ],
  example: {
    name: "Failed payments",
    matchingPrompt: "A customer's payment failed",
    conditions: 'type = "invoice.payment_failed"',
    prompt: "The payment of {{payload.data.object.customer_email}} failed. Draft a friendly reminder.",
  },
  sample: {
    id: "evt_1",
    type: "invoice.payment_failed",
    data: { object: { customer_email: "grace@example.com", amount_due: 1900, currency: "eur" } },
  },
};

const grafana: Sender = {
  sourceType: "grafana",
  label: "Grafana",
  bringsKey: true,
  steps: [
    <>
      In Grafana, open <b>Alerting → Contact points</b>, and add one with the integration <b>Webhook</b>.
    </>,
    <>
      Put the address into <b>URL</b>. Where the source has a key: under the optional settings, <code>Bearer</code> as
      the scheme of the authorization header and the key as its credentials.
    </>,
    <>
      Press <b>Test</b>, save, and choose the contact point in a notification policy.
    </>,
  ],
  example: {
    name: "Alerts",
    matchingPrompt: "An alert is firing that somebody should look at now",
    conditions: 'status = "firing"',
    prompt: "{{payload.title}}: {{payload.message}}. Find out what it means, and say what to do first.",
  },
  sample: {
    status: "firing",
    title: "[FIRING:1] DiskFull",
    message: "The disk of db-1 is 95% full",
    alerts: [{ status: "firing", labels: { alertname: "DiskFull", instance: "db-1" } }],
  },
};

/** Any other system. The person names its kind. */
const other: Sender = {
  sourceType: "webhook",
  label: "Another system",
  bringsKey: true,
  steps: [],
  example: {
    name: "Complaints",
    matchingPrompt: "A customer complains about an order",
    conditions: 'issue.labels.0.name = "bug"',
    prompt: "A customer wrote {{payload.text}} about order {{payload.order}}. Draft a reply.",
  },
  sample: { order: 4711, text: "The teapot came broken" },
};

export const senders: readonly Sender[] = [other, github, stripe, grafana];

/** The sender of sources of this kind. */
export const senderOf = (sourceType: string): Sender =>
  senders.find((sender) => sender.sourceType === sourceType.toLowerCase()) ?? other;
