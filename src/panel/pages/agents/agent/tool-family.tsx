import type { ComponentChildren } from "preact";
import type { AgentTool } from "../../../../client/index.ts";

interface Props {
  title: string;
  tools: readonly AgentTool[];
  isOn: (tool: AgentTool) => boolean;
  /** Shows its tools whether one is on or not. */
  open: boolean;
  children: ComponentChildren;
}

/** The tools that belong together, folded while none of them is on; the engine's own, which are few, are not. */
export function ToolFamily({ title, tools, isOn, open, children }: Props) {
  const on = tools.filter(isOn);
  const lacks = on.some(({ missingSecrets }) => missingSecrets.length > 0);
  // Whether it is folded stays as the person chose it, whatever is turned on and off.
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
