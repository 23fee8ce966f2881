const mostSteps = 20_000;
/** What comparing or measuring so many characters, or listing so many members, costs is a step, too. */
const [charactersPerStep, membersPerStep] = [100, 10];

/**
 * Whether the arguments can be checked by the schema in at most 20,000 steps, so that the check does not hold up others.
 * Each part of the schema costs one for each value it applies to, whatever came of those before.
 */
export function isCheap(schema: unknown, args: object): boolean {
  try {
    new Steps(widest(args)).spendOn(schema, args);
    return true;
  } catch (error) {
    // What is as deep as the stack goes is too much as well.
    if (error instanceof TooMany || error instanceof RangeError) return false;
    throw error;
  }
}

class TooMany extends Error {}

type Fields = Readonly<Record<string, unknown>>;

class Steps {
  #left = mostSteps;
  /** What it costs to list the members of whatever a constant is compared with. */
  readonly #listing: number;

  constructor(mostMembers: number) {
    this.#listing = mostMembers / membersPerStep;
  }

  spendOn(schema: unknown, value: unknown): void {
    this.#spend(1);
    if (!isObject(schema)) return;
    this.#spend(Object.keys(schema).length + members(value) / membersPerStep);
    if (typeof value === "string") this.#spend(value.length / charactersPerStep);
    this.#spend(listOf(schema.type).length + listOf(schema.required).length);
    for (const compared of [schema.enum, schema.const]) if (compared !== undefined) this.#spendOnComparing(compared);
    for (const several of [schema.allOf, schema.anyOf]) {
      for (const inner of listOf(several)) this.spendOn(inner, value);
    }
    if (Array.isArray(value)) {
      if ("items" in schema) for (const item of value) this.spendOn(schema.items, item);
    } else if (isObject(value)) this.#spendOnFields(schema, value);
  }

  #spendOnComparing(constant: unknown): void {
    this.#spend(1);
    if (typeof constant === "string") this.#spend(constant.length / charactersPerStep);
    if (Array.isArray(constant)) for (const inner of constant) this.#spendOnComparing(inner);
    else if (isObject(constant)) {
      this.#spend(this.#listing);
      for (const inner of Object.values(constant)) this.#spendOnComparing(inner);
    }
  }

  #spendOnFields({ properties, additionalProperties }: Fields, value: Fields): void {
    const known = isObject(properties) ? properties : {};
    for (const [name, inner] of Object.entries(known)) {
      this.#spend(1 + name.length / charactersPerStep);
      if (Object.hasOwn(value, name)) this.spendOn(inner, value[name]);
    }
    if (additionalProperties === undefined) return;
    for (const [name, inner] of Object.entries(value)) {
      this.#spend(1 + name.length / charactersPerStep);
      if (!Object.hasOwn(known, name)) this.spendOn(additionalProperties, inner);
    }
  }

  #spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new TooMany();
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function members(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return isObject(value) ? Object.keys(value).length : 0;
}

/** How many members the largest object in the value has. */
function widest(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inner = Object.values(value);
  return inner.reduce<number>((most, one) => Math.max(most, widest(one)), Array.isArray(value) ? 0 : inner.length);
}
