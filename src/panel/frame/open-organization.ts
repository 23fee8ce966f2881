import { goTo } from "../data/route.ts";
import { chooseOrganization } from "../data/session.ts";
import { tellFailure } from "../ui/toast.tsx";

/** Changes the organization and shows its first page, since the open agent or conversation belongs to the former one. */
export async function openOrganization(slug: string): Promise<void> {
  try {
    await chooseOrganization(slug);
    goTo([]);
  } catch (error) {
    tellFailure(error);
  }
}
