import { readFile } from "node:fs/promises";

const sans = "@expo-google-fonts/noto-sans";
const mono = "@expo-google-fonts/noto-sans-mono";

/** The paths of the document fonts in their packages. The build copies them next to the program. */
export const fontFiles = {
  sans: `${sans}/400Regular/NotoSans_400Regular.ttf`,
  "sans-bold": `${sans}/700Bold/NotoSans_700Bold.ttf`,
  "sans-italic": `${sans}/400Regular_Italic/NotoSans_400Regular_Italic.ttf`,
  "sans-bold-italic": `${sans}/700Bold_Italic/NotoSans_700Bold_Italic.ttf`,
  mono: `${mono}/400Regular/NotoSansMono_400Regular.ttf`,
  "mono-bold": `${mono}/700Bold/NotoSansMono_700Bold.ttf`,
  symbols: "dejavu-fonts-ttf/ttf/DejaVuSans.ttf",
  emoji: "@expo-google-fonts/noto-emoji/400Regular/NotoEmoji_400Regular.ttf",
} as const;

/** Reads a document font: next to the bundled program or, in a checkout, in its package. */
export async function readFont(name: keyof typeof fontFiles): Promise<Uint8Array<ArrayBuffer>> {
  const { url } = import.meta;
  const file = url.endsWith(".ts") ? import.meta.resolve(fontFiles[name]) : new URL(`./fonts/${name}.ttf`, url);
  return new Uint8Array(await readFile(new URL(file)));
}
