import type { Instance } from "../../../../../client/index.ts";
import type { Form } from "../../../../data/form.ts";

/** A part of the agent's settings. */
export interface PartProps {
  form: Form<Instance>;
}
