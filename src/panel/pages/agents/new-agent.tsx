import { useSignal } from "@preact/signals";
import { createChat } from "../../../client/index.ts";
import { giveKey } from "../../data/agents.ts";
import { api, connection, isRefused } from "../../data/api.ts";
import { useForm } from "../../data/form/form.ts";
import { useLoaded } from "../../data/list/load.ts";
import { hrefOf } from "../../data/route.ts";
import { hasFeature } from "../../data/session.ts";
import { Card } from "../../ui/card.tsx";
import { SecretField } from "../../ui/form/field.tsx";
import { type FieldTable, SendForm } from "../../ui/form/form.tsx";
import { Note } from "../../ui/note.tsx";
import { Page } from "../../ui/page.tsx";
import { Code } from "../../ui/text/code.tsx";
import { agentAddressName } from "../shared-fields.ts";
import { FirstCalls } from "./first-calls.tsx";
import { labelOfProvider, needsOf, type ProviderName, providers, secretsOf } from "./providers.ts";

interface NewAgentInput {
  slug: string;
  name: string;
  provider: ProviderName;
  baseUrl: string;
  model: string;
}

const blank: NewAgentInput = { slug: "assistant", name: "", provider: "demo", baseUrl: "", model: "" };

/** Creates an agent and lets it answer once, so that a wrong key is noticed here and not by its users. */
export function NewAgentPage() {
  /** The provider's key; never stored as a draft. */
  const key = useSignal("");
  const step = useSignal<string | null>(null);
  const made = useSignal<{ slug: string; key: string; said: string } | null>(null);
  const known = useLoaded(() => api.listProviderModels(), []);
  const form = useForm<NewAgentInput>("new-agent", blank, async () => {
    try {
      step.value = "Making the agent…";
      await store(form.values, key.value);
      step.value = "Asking the model…";
      const { slug } = form.values;
      const said = await hear(slug);
      made.value = { slug, said, key: await giveKey(slug) };
    } finally {
      step.value = null;
    }
  });
  if (made.value) return <Ready {...made.value} />;
  const { provider } = form.values;
  const needs = needsOf[provider];
  const offered = known.value.value?.providers[provider];
  const configured = offered?.configured === true;
  const fields: FieldTable<NewAgentInput> = [
    [
      {
        name: "slug",
        hint: "Lower-case letters, digits, dashes, dots and underscores.",
        ...agentAddressName,
      },
      { name: "name", label: "Name for people", optional: true, maxLength: 128 },
    ],
    {
      name: "provider",
      label: "Model provider",
      hint: provider === "demo" ? "It echoes: good for a look around, but no language model." : undefined,
      kind: "choice",
      choices: providers,
      also: () => ({ model: "" }),
    },
    needs.key && (
      <SecretField
        label={`${providers.find(({ value }) => value === provider)?.label} API key`}
        optional={configured}
        hint={
          configured
            ? "The server has one already; another is kept for this agent only."
            : "Stored encrypted, and never shown again."
        }
        value={key.value}
        onValue={(value) => {
          key.value = value;
        }}
      />
    ),
    {
      name: "baseUrl",
      label: "Address of its API",
      type: "url",
      optional: configured,
      placeholder: provider === "ollama" ? "http://localhost:11434" : "https://models.example.com/v1",
      shown: needs.baseUrl,
    },
    {
      name: "model",
      label: "Model",
      optional: true,
      suggestions: offered?.models.map(({ id }) => id) ?? [],
      placeholder: "The provider's usual one",
      shown: provider !== "demo",
    },
  ];
  return (
    <Page title="New agent" lead="It answers once before it is done, so you see that its model works.">
      <SendForm form={form} fields={fields} action="Create and test" narrow>
        <span class="soft" role="status">
          {step.value}
        </span>
      </SendForm>
    </Page>
  );
}

/** Creates the agent, or changes the one that an earlier attempt on this page created. */
async function store({ slug, name, provider, baseUrl, model }: NewAgentInput, key: string): Promise<void> {
  const settings = { provider, model: model || null, ...(name === "" ? {} : { name }) };
  try {
    await api.createAgent({ body: { slug, ...settings } });
    tried.add(slug);
  } catch (error) {
    if (!(isRefused(error, 409) && tried.has(slug))) throw error;
    await api.updateAgent({ slug, body: settings });
  }
  if (baseUrl === "" && key === "") return;
  if (hasFeature("providers")) return connect(slug, { provider, baseUrl, key });
  const names = secretsOf(provider);
  const secrets = [
    ...(baseUrl === "" ? [] : [{ key: names.baseUrl, value: baseUrl }]),
    ...(key === "" ? [] : [{ key: names.key, value: key }]),
  ];
  await api.putAgentSecrets({ slug, body: { secrets } });
}

/** Binds the agent's replies to a private connection, or to the one that an earlier attempt on this page created. */
async function connect(
  slug: string,
  { provider, baseUrl, key }: Pick<NewAgentInput, "provider" | "baseUrl"> & { key: string },
): Promise<void> {
  const body = { name: labelOfProvider(provider), provider, baseUrl: baseUrl || null, ...(key && { apiKey: key }) };
  const { connections } = await api.listPrivateConnections({ slug });
  const former = connections.find((one) => one.name === body.name && one.provider === provider);
  const { connection: made } = former
    ? await api.updatePrivateConnection({ slug, id: former.id, body })
    : await api.createPrivateConnection({ slug, body });
  // Without a model of its own, so that the agent's settings go on choosing it.
  await api.bindProviderRole({ slug, role: "chat", body: { connectionId: made.id } });
}

/** The agents that this page created and whose model has not answered yet. */
const tried = new Set<string>();

/** The agent's answer to a greeting, in a conversation that is not stored. Rejects with the cause of a failure. */
async function hear(slug: string): Promise<string> {
  const chat = createChat(connection, slug, "playground");
  let said = "";
  for await (const { event, data } of chat.stream({ messages: [{ role: "user", content: "Hello" }] })) {
    if (event === "text-delta") said += data.text;
    if (event === "error") throw new Error(`The agent is made, but its model does not answer: ${data.message}`);
  }
  return said;
}

function Ready({ slug, key, said }: { slug: string; key: string; said: string }) {
  return (
    <Page
      title={`${slug} answers`}
      actions={
        <a class="button primary" href={hrefOf(["agents", slug])}>
          Chat with it
        </a>
      }
    >
      <Card title="Its first words">
        <p class="said">{said}</p>
      </Card>
      <Card title="Its key" lead="It is shown only now: keep it as you keep a password.">
        <Code label="Key of the agent" text={key} />
      </Card>
      <Card title="Call it from a program">
        <FirstCalls slug={slug} apiKey={key} />
      </Card>
      <Note>
        <p>
          <a href={hrefOf(["agents", slug, "prompts"])}>Tell it who it is</a>, or <a href="docs">read the API</a>.
        </p>
      </Note>
    </Page>
  );
}
