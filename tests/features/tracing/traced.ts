import { pooledPost } from "../../../src/adapters/node/post/post.ts";
import { createTracer } from "../../../src/adapters/tracer/tracer.ts";
import type { Tracer } from "../../../src/core/tracing.ts";
import { otlpReceiver, type ReceivedSpan } from "../../otlp-receiver.ts";
import type { ScriptedModel } from "../../scripted-model.ts";
import { chatHarness, eventually } from "../chat/chat.ts";

export const pair = "pk-lf-public-1:sk-lf-secret-1";

interface Options {
  /** Whether the operator has a collector too. */
  operator?: boolean;
  fields?: Record<string, unknown>;
  more?: Parameters<typeof chatHarness>[2];
}

/** An agent whose turns are traced with the pair of keys, a tracer that really sends, and its receiver. */
export async function traced<Model extends ScriptedModel | undefined>(
  model: Model,
  { operator = false, fields = {}, more = {} }: Options = {},
) {
  const receiver = await otlpReceiver();
  let tracer: Tracer | undefined;
  const collector = {
    id: "operator",
    name: "collector",
    url: `${receiver.url}/v1/traces`,
    headers: { "x-tenant": "ops" },
    resource: { "service.name": "agents" },
  };
  const h = await chatHarness(
    model,
    { tracingEnabled: true, ...fields },
    {
      tracer: (clock, log) => {
        tracer = createTracer({ clock, log, post: pooledPost() });
        return tracer;
      },
      ...(operator ? { collector } : {}),
      ...more,
    },
  );
  h.services.policies.set({ ...h.services.policies.values, tracingBaseUrl: receiver.url });
  const secret = (slug: string, value: string) =>
    h.request(`/api/instances/${slug}/secrets`, {
      method: "PUT",
      headers: h.agent.headers,
      json: { secrets: [{ key: "tracing_api_key", value }] },
    });
  const kept = await secret(h.agent.slug, pair);
  if (!kept.ok) throw new Error(await kept.text());
  return {
    ...h,
    model,
    receiver,
    secret,
    patch: (fields: object, slug = h.agent.slug) =>
      h.request(`/api/instances/${slug}`, { method: "PATCH", headers: h.agent.headers, json: fields }),
    counts: () => tracer?.counts(),
    /** Lets the batch be sent, and waits until this many spans in all have arrived. */
    arrive: (spans: number): Promise<ReceivedSpan[]> =>
      eventually(async () => {
        await h.clock.advance(50);
        const all = receiver.spans();
        return all.length >= spans && all;
      }),
  };
}
