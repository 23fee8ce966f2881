import type { AgentBundle, ImportedAgent } from "../../../client/index.ts";
import { hrefOf } from "../../data/route.ts";
import { jsonIn } from "../../data/text.ts";
import { ImportButton } from "../../ui/dialog/import-button.tsx";

interface Props {
  label: string;
  /** The data that the import deletes, for a person to confirm after choosing a file. Absent: none. */
  warning?: string;
  send: (bundle: AgentBundle) => Promise<ImportedAgent>;
  onImported: () => void;
}

/** Imports an agent from an exported file, and shows what is left to do. */
export const ImportAgent = ({ label, warning, send, onImported }: Props) => (
  <ImportButton
    label={label}
    fileLabel={`File: ${label}`}
    accept=".json"
    warning={warning}
    send={async (file) => {
      const imported = await send(jsonIn(await file.text(), file.name) as AgentBundle);
      onImported();
      return imported;
    }}
    title={({ slug }) => `${slug} is imported`}
  >
    {(imported) => <ImportOutcome imported={imported} />}
  </ImportButton>
);

/** The result of an import, with its warnings. */
export const ImportOutcome = ({ imported: { slug, warnings } }: { imported: ImportedAgent }) => (
  <>
    <p>
      <a href={hrefOf(["agents", slug])}>Open {slug}</a>
    </p>
    {warnings.length > 0 && (
      <>
        <p>Left to do, and what is otherwise than in the file:</p>
        <ul class="plain-list">
          {warnings.map(({ path, message }, index) => (
            <li key={index}>
              {message} <code class="soft">{path}</code>
            </li>
          ))}
        </ul>
      </>
    )}
  </>
);
