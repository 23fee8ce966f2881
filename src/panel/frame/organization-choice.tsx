import { goTo } from "../data/route.ts";
import { chooseOrganization, organization, user } from "../data/session.ts";
import { Select } from "../ui/form/field.tsx";
import { tellFailure } from "../ui/toast.tsx";

/** The page of an agent or a conversation means nothing in another organization: its first page is shown. */
async function change(slug: string): Promise<void> {
  await chooseOrganization(slug);
  goTo([]);
}

/** The organization that the pages are about; people of several choose among them. */
export function OrganizationChoice() {
  const { value } = organization;
  const all = user.value?.organizations ?? [];
  if (all.length <= 1) return <span class="tenant">{value?.name ?? "No organization"}</span>;
  return (
    <Select
      label="Organization"
      value={value?.slug ?? ""}
      choices={all.map(({ slug, name }) => ({ value: slug, label: name }))}
      onValue={(slug) => void change(slug).catch(tellFailure)}
    />
  );
}
