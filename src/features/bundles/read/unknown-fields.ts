import { z } from "@hono/zod-openapi";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { nearest } from "../../../core/text/nearest.ts";

/** A field that its schema does not know. */
export interface UnknownField {
  path: (string | number)[];
  /** The field that was probably meant; computed only when read, since there may be very many unknown fields. */
  readonly suggestion: string | null;
}

/** The unknown fields of a value, at every level that the schema describes. */
export function unknownFields(schema: unknown, value: unknown, path: (string | number)[] = []): UnknownField[] {
  const inner = bare(schema);
  if (inner instanceof z.ZodArray) {
    if (!Array.isArray(value)) return [];
    return value.flatMap((entry, index) => unknownFields(inner.element, entry, [...path, index]));
  }
  if (!isObject(value)) return [];
  const object = inner instanceof z.ZodDiscriminatedUnion ? optionOf(inner, value) : inner;
  return object instanceof z.ZodObject ? ofObject(object.shape, value, path) : [];
}

function ofObject(shape: z.ZodRawShape, value: JsonObject, path: (string | number)[]): UnknownField[] {
  const known = Object.keys(shape);
  return Object.keys(value).flatMap((field) => {
    const at = [...path, field];
    if (Object.hasOwn(shape, field)) return unknownFields(shape[field], value[field], at);
    const unknown: UnknownField = {
      path: at,
      get suggestion() {
        return field.length > longestName ? null : (nearest(field, known) ?? null);
      },
    };
    return [unknown];
  });
}

/** The longest name that is compared: a comparison takes time by the product of both lengths. */
const longestName = 64;

/** The schema without its wrappers for optional values. */
function bare(schema: unknown): unknown {
  // A check before the schema does not change the value.
  if (schema instanceof z.ZodPipe) return bare(schema.out);
  const wrapped =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault;
  return wrapped ? bare(schema.unwrap()) : schema;
}

/** The member of a union that the value's discriminating field selects. */
function optionOf(union: z.ZodDiscriminatedUnion, value: JsonObject): unknown {
  const { discriminator } = union.def;
  return union.options.find((option) => {
    const kind = option instanceof z.ZodObject ? option.shape[discriminator] : undefined;
    return kind instanceof z.ZodType && kind.safeParse(value[discriminator]).success;
  });
}
