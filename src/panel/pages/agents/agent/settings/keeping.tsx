import { Card } from "../../../../ui/card.tsx";
import { Switch } from "../../../../ui/form/field.tsx";
import type { PartProps } from "./part-props.ts";

/** What the agent keeps. */
export const Keeping = ({ form: { values, set } }: PartProps) => (
  <Card title="What it keeps">
    <Switch
      label="Memory"
      hint="Remembers facts about end users; needs a fast model to learn by itself."
      checked={values.memoryEnabled}
      onChecked={(memoryEnabled) => set({ memoryEnabled })}
    />
    <Switch
      label="Keep how replies came about"
      hint="Prompt, memories, tools and times of each turn, for Why this answer."
      checked={values.debugEnabled}
      onChecked={(debugEnabled) => set({ debugEnabled })}
    />
    <Switch
      label="Store files that come with messages"
      checked={values.attachmentsEnabled}
      onChecked={(attachmentsEnabled) => set({ attachmentsEnabled })}
    />
  </Card>
);
