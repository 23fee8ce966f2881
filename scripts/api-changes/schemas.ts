// Compares two schemas, and decides whether a change may break a client.
import { type Document, isObject, type Place, type Report, type Schema, same } from "./document.ts";
import { compareLimits } from "./limits.ts";
import {
  alternativesOf,
  areTagged,
  nameOf,
  propertiesOf,
  requiredOf,
  resolve,
  type Schemas,
  tagsOf,
  typesOf,
} from "./shapes.ts";

export type CompareSchemas = (before: Schema, after: Schema, place: Place) => void;

const schemasOf = ({ components }: Document): Schemas => components?.schemas ?? {};

/** Returns a function that reports the changes between a schema of one document and one of another. */
export function schemaComparison(before: Document, after: Document, report: Report): CompareSchemas {
  const [old, now] = [schemasOf(before), schemasOf(after)];
  const seen = new Set<string>();

  const compare: CompareSchemas = (first, second, place) => {
    const [oldName, newName] = [nameOf(first), nameOf(second)];
    if (oldName === null || newName === null) return compareShapes(first, second, place);
    const pair = `${place.direction} ${oldName} ${newName}`;
    if (seen.has(pair)) return;
    seen.add(pair);
    // A schema shared by many operations is reported once.
    compareShapes(first, second, { ...place, subject: newName, path: "" });
  };

  const compareShapes: CompareSchemas = (first, second, place) => {
    const [was, is] = [resolve(first, old), resolve(second, now)];
    const [before, after] = [alternativesOf(was, old), alternativesOf(is, now)];
    if (before.options[0] === was && after.options[0] === is) return compareSingle(was, is, place);
    if (before.options.length > 1 && after.options.length > 1 && !same(tagOf(was), tagOf(is)))
      report(true, place, `is told apart by ${tagOf(is)}, and was by ${tagOf(was)}`);
    compareNull(before.nullable || takesNull(was), after.nullable || takesNull(is), place);
    compareOptions(
      before.options[0] === was ? [first] : before.options,
      after.options[0] === is ? [second] : after.options,
      place,
    );
  };

  const compareOptions = (first: Schema[], second: Schema[], place: Place) => {
    const left = [...second];
    for (const option of first) {
      const found = left.findIndex((other) => match(option, other));
      const [other] = found < 0 ? [] : left.splice(found, 1);
      if (other) compare(option, other, place);
      else report(true, place, `no longer has the form ${describe(option, old)}`);
    }
    for (const option of left) {
      const known = place.direction === "request" || (areTagged(first, old) && areTagged(second, now));
      report(!known, place, `may have the form ${describe(option, now)}`);
    }
  };

  const match = (first: Schema, second: Schema): boolean => {
    const [one, other] = [nameOf(first), nameOf(second)];
    if (one !== null && one === other) return true;
    const [tags, others] = [tagsOf(first, old), tagsOf(second, now)];
    const shared = [...tags].filter(([name]) => others.has(name));
    if (shared.length > 0) {
      return shared.every(([name, values]) =>
        values.some((value) => others.get(name)?.some((its) => same(value, its))),
      );
    }
    if (one !== null && other !== null) return false;
    const kinds = [first, second].map((option, index) => baseTypes(resolve(option, index === 0 ? old : now)));
    return kinds[0] === kinds[1];
  };

  const compareSingle: CompareSchemas = (was, is, place) => {
    compareLimits(was, is, place, report);
    compareFields(was, is, place);
    compareRest(was.additionalProperties, is.additionalProperties, place);
    const items = [was.items, is.items];
    if (items.some(isObject)) compare(asSchema(was.items), asSchema(is.items), { ...place, path: `${place.path}[]` });
  };

  const compareFields: CompareSchemas = (was, is, place) => {
    const [before, after] = [propertiesOf(was), propertiesOf(is)];
    const [must, now] = [requiredOf(was), requiredOf(is)];
    for (const name of new Set([...Object.keys(before), ...Object.keys(after), ...must, ...now])) {
      const at = { ...place, path: `${place.path}.${name}` };
      const [old, field] = [before[name], after[name]];
      if (old && !field) report(true, at, "is gone");
      else if (!old && field) compareNew(name, now, at);
      else {
        if (now.includes(name) && !must.includes(name)) report(place.direction === "request", at, "is required now");
        if (must.includes(name) && !now.includes(name)) report(place.direction === "answer", at, "is optional now");
        if (old && field) compare(old, field, at);
      }
    }
  };

  const compareNew = (name: string, required: string[], at: Place) => {
    const demanded = required.includes(name) && at.direction === "request";
    report(demanded, at, demanded ? "is new and required" : "is new");
  };

  /** Compares the schemas of unnamed fields. */
  const compareRest = (was: unknown, is: unknown, place: Place) => {
    const at = { ...place, path: `${place.path}.*` };
    if (isTyped(was) && isTyped(is)) return compare(was, is, at);
    if (place.direction === "request" && was !== false) {
      if (is === false) report(true, at, "is refused now");
      else if (isTyped(is)) report(true, at, "is checked now");
    } else if (place.direction === "answer" && isTyped(was) && !isTyped(is)) report(true, at, "is gone");
  };

  const compareNull = (was: boolean, is: boolean, place: Place) => {
    if (was && !is) report(place.direction === "request", place, "may no longer be null");
    if (is && !was) report(place.direction === "answer", place, "may be null now");
  };

  return compare;
}

const tagOf = ({ discriminator }: Schema) => (isObject(discriminator) ? discriminator.propertyName : "no field");
const takesNull = (schema: Schema) => typesOf(schema)?.includes("null") ?? false;
const asSchema = (value: unknown): Schema => (isObject(value) ? value : {});
/** Whether the schema restricts unnamed fields; `{}` and `true` do not. */
const isTyped = (value: unknown): value is Schema => isObject(value) && Object.keys(value).length > 0;

const baseTypes = (schema: Schema) =>
  typesOf(schema)
    ?.filter((type) => type !== "null")
    .sort()
    .join() ?? "any";

function describe(option: Schema, schemas: Schemas): string {
  const name = nameOf(option);
  if (name !== null) return name;
  const tags = [...tagsOf(option, schemas)].map(([field, values]) => `${field}: ${values.join("|")}`);
  return tags.length > 0 ? `{ ${tags.join(", ")} }` : baseTypes(resolve(option, schemas));
}
