import { goTo } from "../data/route.ts";
import { chooseOrganization, organization, user } from "../data/session.ts";
import { Select } from "../ui/form/field.tsx";
import { tellFailure } from "../ui/toast.tsx";

/** Changes the organization and shows its first page, since an open agent or conversation belongs to the former one. */
async function change(slug: string): Promise<void> {
  await chooseOrganization(slug);
  goTo([]);
}

/** The current organization; people in several choose among them. */
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
