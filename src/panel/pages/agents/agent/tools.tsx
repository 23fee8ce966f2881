import type { AgentTool } from "../../../../client/index.ts";
import { api } from "../../../data/api.ts";
import { useForm } from "../../../data/form.ts";
import { withChanges } from "../../../data/lists.ts";
import { useLoaded } from "../../../data/load.ts";
import { Changeable } from "../../../ui/allowed.tsx";
import { Card } from "../../../ui/card.tsx";
import { Filtered } from "../../../ui/form/filtered.tsx";
import { SaveForm } from "../../../ui/form/save-form.tsx";
import { Failure } from "../../../ui/note.tsx";
import { Waiting } from "../../../ui/waiting.tsx";
import { RequiredSecrets } from "./required-secrets.tsx";
import type { TabProps } from "./tab-props.ts";

/** What an agent can do beside talking, and which calls ask a person first. */
export function Tools({ agent: { slug } }: TabProps) {
  const { value, error, reload } = useLoaded(async () => (await api.listAgentTools({ slug })).tools, [slug]);
  const tools = value.value;
  return (
    <>
      <Failure error={error.value} retry={reload} />
      {!tools && error.value === undefined && <Waiting />}
      {tools && <RequiredSecrets slug={slug} tools={tools} />}
      {tools && (
        <Changeable to="agent.tool:write">
          <ToolForm slug={slug} tools={tools} onChange={reload} />
        </Changeable>
      )}
    </>
  );
}

interface Chosen {
  enabled: readonly string[];
  needsApproval: readonly string[];
}

interface FormProps {
  slug: string;
  tools: readonly AgentTool[];
  onChange: () => Promise<void>;
}

function chosenOf(tools: readonly AgentTool[]): Chosen {
  const enabled = tools.filter((tool) => tool.enabled);
  const asking = enabled.filter(({ needsApproval }) => needsApproval);
  return { enabled: enabled.map(({ name }) => name), needsApproval: asking.map(({ name }) => name) };
}

function ToolForm({ slug, tools, onChange }: FormProps) {
  const stored = chosenOf(tools);
  const form = useForm<Chosen>(`tools.${slug}`, stored, async (changes) => {
    await save(slug, stored, changes);
    await onChange();
  });
  return (
    <Filtered
      items={tools}
      textsOf={({ name, description }) => [name, description]}
      none="No tool has these words in its name or description."
    >
      {(found) => (
        <SaveForm form={form}>
          {[...Map.groupBy(found, ({ category }) => category)].map(([category, some]) => (
            <Card key={category} title={category}>
              {some.map((tool) => (
                <ToolRow
                  key={tool.name}
                  tool={tool}
                  on={form.values.enabled.includes(tool.name)}
                  asks={form.values.needsApproval.includes(tool.name)}
                  onOn={(on) => form.set({ enabled: changed(form.values.enabled, tool.name, on, tools) })}
                  onAsks={(asks) =>
                    form.set({ needsApproval: changed(form.values.needsApproval, tool.name, asks, tools) })
                  }
                />
              ))}
            </Card>
          ))}
        </SaveForm>
      )}
    </Filtered>
  );
}

/**
 * Stores what was chosen, beside what somebody else chose since the page read the tools. A tool that is turned on asks as
 * its plugin would have it unless somebody chose otherwise, and only the answer to turning it on tells how that is: so the
 * choices about asking are stored after it.
 */
async function save(slug: string, stored: Chosen, { enabled = stored.enabled, needsApproval }: Partial<Chosen>) {
  const now = chosenOf((await api.listAgentTools({ slug })).tools);
  const on = withChanges(now.enabled, stored.enabled, enabled);
  const { tools } = await api.putAgentTools({ slug, body: { enabled: on } });
  if (needsApproval === undefined) return;
  const asks = withChanges(chosenOf(tools).needsApproval, stored.needsApproval, needsApproval);
  await api.putAgentTools({ slug, body: { enabled: on, needsApproval: asks.filter((name) => on.includes(name)) } });
}

/** The names with or without one, in the order of the tools, so that what was taken back is no change. */
function changed(names: readonly string[], name: string, on: boolean, tools: readonly AgentTool[]): string[] {
  return tools.map((tool) => tool.name).filter((one) => (one === name ? on : names.includes(one)));
}

interface RowProps {
  tool: AgentTool;
  on: boolean;
  asks: boolean;
  onOn: (on: boolean) => void;
  onAsks: (asks: boolean) => void;
}

function ToolRow({ tool: { name, description, source }, on, asks, onOn, onAsks }: RowProps) {
  const bySkill = source === "skill";
  return (
    <div class="tool-row">
      <label class="check">
        <input
          type="checkbox"
          checked={on}
          disabled={bySkill}
          onChange={(event) => onOn(event.currentTarget.checked)}
        />
        <code>{name}</code>
      </label>
      <p class="soft">
        {description}
        {bySkill && " An enabled skill requires it."}
      </p>
      {on && (
        <label class="check">
          <input type="checkbox" checked={asks} onChange={(event) => onAsks(event.currentTarget.checked)} />
          <span>Ask before each call of {name}</span>
        </label>
      )}
    </div>
  );
}
