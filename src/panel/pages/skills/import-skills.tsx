import type { SkillImport, SkillImportAnswer } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { jsonIn } from "../../data/json.ts";
import { orgSlug } from "../../data/session.ts";
import { ImportButton } from "../../ui/dialog/import-button.tsx";
import { Facts } from "../../ui/facts.tsx";

/** Takes skills from a file: a zip of folders, or what an export answered. */
export function ImportSkills({ onImported }: { onImported: () => void }) {
  const send = async (file: File) => {
    const body = file.name.endsWith(".json")
      ? (jsonIn(await file.text(), file.name) as SkillImport)
      : new Blob([file], { type: "application/zip" });
    const answer = await api.importSkills({ orgSlug: orgSlug.value, body });
    onImported();
    return answer;
  };
  return (
    <ImportButton label="Import" fileLabel="File with skills" accept=".zip,.json" send={send} title={() => "Imported"}>
      {(answer) => <Outcome answer={answer} />}
    </ImportButton>
  );
}

const Outcome = ({ answer: { created, updated, skipped, ignored } }: { answer: SkillImportAnswer }) => (
  <>
    <Facts
      of={[
        ["New", created],
        ["With a new version", updated],
        ["The same already", skipped],
      ]}
    />
    {ignored.length > 0 && (
      <p class="soft">
        Skills have no use for {ignored.length === 1 ? "this file" : "these files"}: {ignored.join(", ")}
      </p>
    )}
  </>
);
