import { api } from "../../data/api.ts";
import { useLoaded } from "../../data/list/load.ts";
import { orgSlug } from "../../data/session.ts";
import { Card } from "../../ui/card.tsx";
import { StoredCheck } from "../../ui/form/check.tsx";
import { Failure } from "../../ui/note.tsx";
import { tell } from "../../ui/toast.tsx";

/** The plugins that the operator has installed, each with a box that turns it on for the organization. */
export function Packages() {
  const slug = orgSlug.value;
  const { value, error, reload } = useLoaded(
    async () => (await api.listPluginPackages({ orgSlug: slug })).packages,
    [slug],
  );
  const turn = async (namespace: string, enabled: boolean) => {
    await api.putPluginPackage({ orgSlug: slug, namespace, body: { enabled } });
    tell(enabled ? `Agents can use ${namespace} now` : `Agents can't use ${namespace} any more`);
  };
  return (
    <Card
      title="Installed plugins"
      lead="The server's operator installed them. This organization's agents can't use one that is off."
    >
      <Failure error={error.value} retry={reload} />
      {value.value?.length === 0 && <p class="soft">None is installed.</p>}
      <fieldset class="bare form">
        <legend class="label">Plugins that agents can use</legend>
        {value.value?.map(({ namespace, enabled }) => (
          <StoredCheck key={namespace} stored={enabled} store={(on) => turn(namespace, on).finally(reload)}>
            {namespace}
          </StoredCheck>
        ))}
      </fieldset>
    </Card>
  );
}
