import { embedFace } from "../fonts/embed.ts";
import type { Face } from "../fonts/typeface.ts";
import type { Pace } from "../pace.ts";
import { array, dateString, decimal, dict, encode, ObjectFile, type ObjectId, ref, textString } from "./objects.ts";
import { type Heading, outlineOf } from "./outline.ts";
import { addressString, type Page, type Target } from "./page.ts";
import { embedPicture, type Picture } from "./picture.ts";

export interface Document {
  title: string;
  language: string | null;
  /** Milliseconds since the epoch. */
  createdAt: number;
  pages: readonly Page[];
  faces: readonly Face[];
  pictures: readonly Picture[];
  headings: readonly Heading[];
}

export const faceResource = (index: number): string => `F${index + 1}`;
export const pictureResource = (index: number): string => `I${index + 1}`;

/** Writes the file. */
export async function writeDocument(document: Document, pace: Pace): Promise<Uint8Array<ArrayBuffer>> {
  const file = new ObjectFile();
  const [root, tree] = [file.reserve(), file.reserve()];
  const ids = document.pages.map(() => file.reserve());
  const resources = await writeResources(file, document, pace);
  const destinations = new Map<string, string>();
  for (const heading of document.headings) {
    const { page, y } = heading;
    const height = document.pages[page]?.height ?? 0;
    destinations.set(heading.anchor, array([ref(ids[page] ?? root), "/XYZ", 0, decimal(height - y + 8), "null"]));
  }
  const actions = new Actions(file, destinations);
  for (const [index, page] of document.pages.entries()) {
    const content = await file.addCompressed(encode(page.content()));
    const links = page.links.flatMap(({ box, target }) => {
      const action = actions.of(target);
      if (!action) return [];
      return [
        file.add(dict({ Type: "/Annot", Subtype: "/Link", Rect: page.edges(box), Border: "[0 0 0]", F: 4, ...action })),
      ];
    });
    file.put(ids[index] ?? root, pageBody(page, { tree, resources, content, links }));
    await pace.breathe();
  }
  file.put(tree, dict({ Type: "/Pages", Count: ids.length, Kids: array(ids.map(ref)) }));
  const outline = outlineOf(file, document.headings, destinations);
  file.put(root, catalog(document, tree, outline));
  return file.finish({ root, info: file.add(information(document)) });
}

async function writeResources(file: ObjectFile, { faces, pictures }: Document, pace: Pace): Promise<ObjectId> {
  const fonts: Record<string, string> = {};
  for (const [index, face] of faces.entries()) {
    if (face.characters.length === 0) continue;
    fonts[faceResource(index)] = ref(await embedFace(file, face, `AGENT${"ABCDEFGHIJ"[index]}`));
    await pace.breathe();
  }
  const images = pictures.map((picture, index) => [pictureResource(index), ref(embedPicture(file, picture))]);
  return file.add(dict({ Font: dict(fonts), XObject: dict(Object.fromEntries(images)) }));
}

function pageBody(
  page: Page,
  parts: { tree: ObjectId; resources: ObjectId; content: ObjectId; links: readonly ObjectId[] },
): string {
  return dict({
    Type: "/Page",
    Parent: ref(parts.tree),
    MediaBox: array([0, 0, decimal(page.width), decimal(page.height)]),
    Resources: ref(parts.resources),
    Contents: ref(parts.content),
    ...(parts.links.length > 0 ? { Annots: array(parts.links.map(ref)) } : {}),
  });
}

/** Where links lead, each address once in the file. */
class Actions {
  readonly #file: ObjectFile;
  readonly #destinations: ReadonlyMap<string, string>;
  readonly #addresses = new Map<string, ObjectId>();

  constructor(file: ObjectFile, destinations: ReadonlyMap<string, string>) {
    this.#file = file;
    this.#destinations = destinations;
  }

  /** Null: the heading does not exist. */
  of(target: Target): Record<string, string> | null {
    if ("anchor" in target) {
      const destination = this.#destinations.get(target.anchor);
      return destination === undefined ? null : { Dest: destination };
    }
    const id =
      this.#addresses.get(target.address) ?? this.#file.add(dict({ S: "/URI", URI: addressString(target.address) }));
    this.#addresses.set(target.address, id);
    return { A: ref(id) };
  }
}

const catalog = ({ language }: Document, tree: ObjectId, outline: ObjectId | null) =>
  dict({
    Type: "/Catalog",
    Pages: ref(tree),
    ViewerPreferences: dict({ DisplayDocTitle: "true" }),
    ...(language === null ? {} : { Lang: textString(language) }),
    ...(outline === null ? {} : { Outlines: ref(outline), PageMode: "/UseOutlines" }),
  });

const information = ({ title, createdAt }: Document) =>
  dict({ Title: textString(title), Producer: textString("Agent Engine"), CreationDate: dateString(createdAt) });
