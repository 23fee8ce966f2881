import { chooseOrganization, organization, user } from "../data/session.ts";
import { tellFailure } from "../ui/toast.tsx";

/** The organization that the pages are about; people of several choose among them. */
export function OrganizationChoice() {
  const { value } = organization;
  const all = user.value?.organizations ?? [];
  if (all.length <= 1) return <span class="tenant">{value?.name ?? "No organization"}</span>;
  return (
    <select
      class="input"
      aria-label="Organization"
      value={value?.slug}
      onChange={(event) => {
        const { value: slug } = event.currentTarget;
        location.hash = "";
        chooseOrganization(slug).catch(tellFailure);
      }}
    >
      {all.map(({ slug, name }) => (
        <option key={slug} value={slug}>
          {name}
        </option>
      ))}
    </select>
  );
}
