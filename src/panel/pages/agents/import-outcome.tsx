import type { ImportedAgent } from "../../../client/index.ts";
import { hrefOf } from "../../data/route.ts";

/** What an import left to do. */
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
