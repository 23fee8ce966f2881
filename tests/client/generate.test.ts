import { expect, test } from "vitest";
import type { Document } from "../../scripts/client/document.ts";
import { writeOperations, writeTypes } from "../../scripts/client/operations.ts";
import { declaration, typeOf } from "../../scripts/client/types.ts";

test("schemas become types", () => {
  expect(typeOf({})).toBe("unknown");
  expect(typeOf({ type: ["string", "null"] })).toBe("string | null");
  expect(typeOf({ enum: ["a", 1, null] })).toBe('"a" | 1 | null');
  expect(typeOf({ type: "array", items: { anyOf: [{ type: "integer" }, { type: "number" }, { const: "x" }] } })).toBe(
    'Array<number | "x">',
  );
  expect(typeOf({ type: "object", additionalProperties: { type: "boolean" } })).toBe("Record<string, boolean>");
  expect(typeOf({ allOf: [{ $ref: "#/components/schemas/A" }, { $ref: "#/components/schemas/Error" }] })).toBe(
    "(A) & (ErrorBody)",
  );
  const described = { type: "object", required: ["a"], properties: { a: { type: "string", description: "x */ y" } } };
  expect(declaration("Thing", described)).toBe('export interface Thing {\n/** x *\\/ y */\n"a": string;\n}');
});

test("what it cannot say, it refuses to guess", () => {
  const strange = { type: "object", patternProperties: {} };
  expect(() => typeOf(strange)).toThrow("patternProperties");
  expect(() => typeOf({ type: "tuple" })).toThrow("tuple");
});

test("operations become methods and what is needed to send them", () => {
  const document: Document = {
    components: { schemas: {} },
    paths: {
      "/things/{thingId}": {
        delete: {
          operationId: "deleteThing",
          summary: "Delete",
          description: "For good.",
          parameters: [
            { name: "thingId", in: "path", required: true, schema: { type: "string" } },
            { name: "If-Match", in: "header", schema: { type: "string" } },
            { name: "deep", in: "query", schema: { type: "boolean" } },
          ],
          responses: { 204: {}, 404: {} },
        },
      },
    },
  };
  const types = writeTypes(document);
  expect(types).toContain('{\n"thingId": string;\n"ifMatch"?: string;\n"deep"?: boolean;\n}');
  expect(types).toContain("deleteThing(input: DeleteThingInput, options?: CallOptions): Promise<void>;");
  expect(writeOperations(document)).toContain(
    'deleteThing: {"method":"DELETE","path":"/things/{thingId}","answer":"none","query":{"deep":"deep"},"headers":{"ifMatch":"If-Match"}}',
  );
});
