import type { ComponentChildren } from "preact";
import type { AgentTool } from "../../../../client/index.ts";
import { api } from "../../../data/api.ts";
import { useForm } from "../../../data/form/form.ts";
import { useLoaded } from "../../../data/list/load.ts";
import { Changeable } from "../../../ui/allowed.tsx";
import { Check } from "../../../ui/form/check.tsx";
import { SaveForm } from "../../../ui/form/form.tsx";
import { Filtered } from "../../../ui/list/search.tsx";
import { WhenLoaded } from "../../../ui/list/when-loaded.tsx";
import { Note } from "../../../ui/note.tsx";
import { missingLabels, RequiredSecrets } from "./required-secrets.tsx";
import type { TabProps } from "./tab-props.ts";
import { toolWords } from "./tool-words.ts";

/** The agent's tools, and which of their calls need approval. */
export function Tools({ agent: { slug } }: TabProps) {
  const tools = useLoaded(async () => (await api.listAgentTools({ slug })).tools, [slug]);
  return (
    <WhenLoaded of={tools}>
      {(read) => (
        <>
          <RequiredSecrets slug={slug} tools={read} onStored={tools.reload} />
          <Changeable to="agent.tool:write">
            <ToolForm slug={slug} tools={read} onChange={tools.reload} />
          </Changeable>
        </>
      )}
    </WhenLoaded>
  );
}

/**
 * Whether a tool is on, and whether its calls need approval. These are two values, so that a draft contains only what
 * the person chose.
 */
type ToolChoices = Record<`${"on" | "asks"} ${string}`, boolean>;

interface FormProps {
  slug: string;
  tools: readonly AgentTool[];
  onChange: () => Promise<void>;
}

const chosenOf = (tools: readonly AgentTool[]): ToolChoices =>
  Object.fromEntries(
    tools.flatMap(({ name, enabled, needsApproval }) => [
      [`on ${name}`, enabled],
      [`asks ${name}`, enabled && needsApproval],
    ]),
  );

function ToolForm({ slug, tools, onChange }: FormProps) {
  const stored = chosenOf(tools);
  const form = useForm<ToolChoices>(`tools.${slug}`, stored, async (changes) => {
    await save(slug, changes);
    await onChange();
  });
  const turn = (name: string, on: boolean) => {
    // A disabled tool has no approval setting, since its box is hidden.
    const asks = on ? {} : { [`asks ${name}`]: stored[`asks ${name}`] };
    form.set({ [`on ${name}`]: on, ...asks });
  };
  const isOn = ({ name }: AgentTool) => form.values[`on ${name}`] === true;
  const missing = missingLabels(tools.filter(isOn));
  return (
    <Filtered
      items={tools}
      textsOf={(tool) => [tool.name, tool.description, tool.category, ...Object.values(toolWords(tool))]}
      none="No tool has these words in its name or description."
    >
      {(found) => (
        <SaveForm form={form} fields={[]} notice={missing.length > 0 && <Missing labels={missing} />}>
          {[...Map.groupBy(found, ({ category }) => category)].map(([category, some]) => (
            <ToolFamily key={category} title={category} tools={some} isOn={isOn} open={found.length < tools.length}>
              {some.map((tool) => (
                <ToolRow
                  key={tool.name}
                  tool={tool}
                  on={isOn(tool)}
                  asks={form.values[`asks ${tool.name}`] === true}
                  onOn={(on) => turn(tool.name, on)}
                  onAsks={(asks) => form.set({ [`asks ${tool.name}`]: asks })}
                />
              ))}
            </ToolFamily>
          ))}
        </SaveForm>
      )}
    </Filtered>
  );
}

/**
 * Stores the choices, and keeps changes that other people made since the page read the tools. When a tool is enabled, it
 * gets its plugin's approval default, which only the response shows: so choices about approval are stored afterwards.
 */
async function save(slug: string, changes: Partial<ToolChoices>) {
  const now = await api.listAgentTools({ slug });
  const enabled = namesOf(now.tools, (tool) => changes[`on ${tool.name}`] ?? tool.enabled);
  const { tools } = await api.putAgentTools({ slug, body: { enabled } });
  if (!tools.some(({ name }) => `asks ${name}` in changes)) return;
  const asking = (tool: AgentTool) => tool.enabled && (changes[`asks ${tool.name}`] ?? tool.needsApproval);
  await api.putAgentTools({ slug, body: { enabled, needsApproval: namesOf(tools, asking) } });
}

const namesOf = (tools: readonly AgentTool[], isMeant: (tool: AgentTool) => boolean) =>
  tools.filter(isMeant).map(({ name }) => name);

const Missing = ({ labels }: { labels: readonly string[] }) => (
  <Note look="warn">
    <p>Missing: {labels.join(", ")}. What needs them can't be used until they are stored.</p>
  </Note>
);

interface RowProps {
  tool: AgentTool;
  on: boolean;
  asks: boolean;
  onOn: (on: boolean) => void;
  onAsks: (asks: boolean) => void;
}

function ToolRow({ tool, on, asks, onOn, onAsks }: RowProps) {
  const { name } = tool;
  const { title, about } = toolWords(tool);
  const bySkill = tool.source === "skill";
  return (
    <div class="tool-row">
      <Check checked={on} disabled={bySkill} onChecked={onOn}>
        {title}
      </Check>
      <p class="soft">
        {about}
        {bySkill && " An enabled skill requires it."} <code>{name}</code>
      </p>
      {on && tool.missingSecrets.length > 0 && (
        <p>
          <span class="badge warn">missing: {missingLabels([tool]).join(", ")}</span>
        </p>
      )}
      {on && (
        <Check checked={asks} onChecked={onAsks}>
          Ask before each call of {name}
        </Check>
      )}
    </div>
  );
}

interface FamilyProps {
  title: string;
  tools: readonly AgentTool[];
  isOn: (tool: AgentTool) => boolean;
  /** Whether to show the tools even if none is enabled. */
  open: boolean;
  children: ComponentChildren;
}

/** A group of tools, folded while none is enabled. The engine's own tools, which are few, are never folded. */
function ToolFamily({ title, tools, isOn, open, children }: FamilyProps) {
  const on = tools.filter(isOn);
  const lacks = on.some(({ missingSecrets }) => missingSecrets.length > 0);
  // The group stays folded or open as the person chose, whatever is enabled afterwards.
  const opened = open || tools.some(({ enabled, origin }) => enabled || origin === "builtin");
  return (
    <details class="step" open={opened}>
      <summary>
        <b>{title}</b>{" "}
        <span class="soft">
          {on.length} of {tools.length} on
        </span>{" "}
        {lacks && <span class="badge warn">a secret is missing</span>}
      </summary>
      <div class="form">{children}</div>
    </details>
  );
}
